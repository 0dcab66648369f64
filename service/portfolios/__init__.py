"""The loans of stored workbooks, mapped once for all areas that calculate on them."""
