"""Numbers out of arguments; declarations for the other compiled modules."""

from core.formula.values.value cimport Array


cpdef object sum_array(Array array)
cpdef object average_array(Array array)
cpdef object count_array(Array array)
cpdef object minimum_array(Array array)
cpdef object maximum_array(Array array)
cpdef object product_array(Array array)

cpdef double round_half_away(double number, int digits) noexcept nogil
cpdef double round_down(double number, int digits) noexcept nogil
cpdef double round_up(double number, int digits) noexcept nogil
cpdef double whole_below(double number) noexcept nogil
cpdef double whole_above(double number) noexcept nogil
