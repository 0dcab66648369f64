"""Changes of type; declarations for the other compiled modules."""

from core.formula.values.value cimport Error


cpdef object to_number(object value, bint date_1904=*)
cpdef object to_text(object value)
cpdef object to_logical(object value)
cpdef int compare(object a, object b) except -2
cpdef bint equal(object a, object b) except -1
cpdef str general(double number)
cpdef str order_key(str text)
cdef int compare_numbers(double a, double b) noexcept
cdef bint same_at_15_digits(double a, double b) noexcept
cdef double add(double a, double b) noexcept
cdef double subtract(double a, double b) noexcept
cdef object power(double base, double exponent)
