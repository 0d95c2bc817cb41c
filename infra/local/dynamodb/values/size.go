package values

// Sizes as AWS counts them against the 400 KB of an item and for capacity:
// "DynamoDB item sizes and formats" in the developer guide.
const (
	documentOverhead = 3 // bytes of a list or map
	elementOverhead  = 1 // bytes of each element of a list or map
)

// MaxDepth is the maximum number of levels of an attribute value.
const MaxDepth = 32

// Size returns the size of a number in bytes, as measured on AWS: 1, plus 1 for every two digits before the decimal
// point, for every two digits after it, and for a minus sign. Leading and trailing zeros do not count.
func (n Number) Size() int {
	whole := max(0, min(len(n.digits), len(n.digits)+int(n.exponent)))
	fraction := len(n.digits) - whole
	size := 1 + (whole+1)/2 + (fraction+1)/2
	if n.negative {
		size++
	}
	return size
}

// Size returns the size of the value in bytes, without its name.
func (v Value) Size() int {
	size := 0
	switch v.Kind {
	case S, B:
		size = len(v.S)
	case N:
		size = v.N.Size()
	case M:
		size = documentOverhead + v.M.Size() + elementOverhead*len(v.M)
	case L, SS, NS, BS:
		for _, element := range v.L {
			size += element.Size()
		}
		if v.Kind == L {
			size += documentOverhead + elementOverhead*len(v.L)
		}
	case BOOL, NULL:
		size = 1
	}
	return size
}

// Size returns the size of names and values in bytes.
func (i Item) Size() int {
	size := 0
	for n := range i {
		size += len(i[n].Name) + i[n].Value.Size()
	}
	return size
}

// Depth returns the number of levels of the value. It is 1 for a scalar or set.
func (v Value) Depth() int {
	depth := 0
	if v.Kind == L {
		for _, element := range v.L {
			depth = max(depth, element.Depth())
		}
	}
	for _, element := range v.M {
		depth = max(depth, element.Value.Depth())
	}
	return depth + 1
}
