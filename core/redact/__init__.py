"""Personal data found and hidden, in a text and in all of a workbook (`book`), as a policy says (`replace`)."""
