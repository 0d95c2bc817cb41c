package dynamodb

import (
	"reflect"

	"github.com/go-json-experiment/json/jsontext"
)

// javaNames are the types of AWS's request classes, by the kind of the Go field.
var javaNames = map[reflect.Kind]string{
	reflect.String: "String",
	reflect.Bool:   "Boolean",
	reflect.Int32:  "Integer",
	reflect.Int64:  "Long",
}

var tokenNames = map[jsontext.Kind]string{
	jsontext.KindString: "STRING_VALUE",
	jsontext.KindNumber: "NUMBER_VALUE",
	jsontext.KindTrue:   "TRUE_VALUE",
	jsontext.KindFalse:  "FALSE_VALUE",
}

// mismatchMessage is what AWS says of a JSON value where another kind belongs.
func mismatchMessage(found jsontext.Kind, wanted reflect.Kind) string {
	scalar, isScalar := javaNames[wanted]
	switch {
	case found == jsontext.KindBeginObject:
		return "Start of structure or map found where not expected"
	case found == jsontext.KindBeginArray && isScalar:
		return "Unrecognized collection type class java.lang." + scalar
	case found == jsontext.KindBeginArray:
		return "Start of list found where not expected"
	case wanted == reflect.Bool && found == jsontext.KindString:
		return "Unexpected token received from parser"
	case isScalar:
		return tokenNames[found] + " cannot be converted to " + scalar
	default:
		return "Unexpected field type"
	}
}
