"""Files read and written: texts, arrays of input data, values as strict JSON holds them."""
