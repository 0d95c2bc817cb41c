package attr

import "cmp"

// Error is a value that DynamoDB refuses.
type Error struct {
	// Message is AWS's text, without the prefix some request fields add.
	Message string
	// Older is AWS's text in the operations that still check values the way
	// they did before 2026; "" where it is the same.
	Older string
	// Serialization says that AWS answers SerializationException; otherwise
	// it is a ValidationException.
	Serialization bool
}

// Error returns AWS's text.
func (e *Error) Error() string { return e.Message }

// InOlderWords returns the text of the operations that check values in the
// older way.
func (e *Error) InOlderWords() string { return cmp.Or(e.Older, e.Message) }

// problem is a broken rule in AWS's two wordings, of which the older is often
// the same, hence "".
type problem struct{ text, older string }

// refused is a value that breaks a rule whose wording never changed.
func refused(text string) Value { return Value{S: text} }

// value is what is left of a value that breaks a rule.
func (p problem) value() Value {
	v := refused(p.text)
	if p.older != "" {
		v.SS = []string{p.older}
	}
	return v
}

// problem is the reverse of value.
func (v Value) problem() problem {
	p := problem{text: cmp.Or(v.S, msgEmptyValue)}
	if len(v.SS) > 0 {
		p.older = v.SS[0]
	}
	return p
}

// ErrNesting refuses a value of more than [MaxDepth] levels.
var ErrNesting = &Error{Message: msgNesting}

func serializationError(message string) *Error {
	return &Error{Message: message, Serialization: true}
}

// AWS's texts, odd spelling and spacing included.
const (
	msgEmptyValue     = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
	msgEmptyName      = "Empty attribute name"
	msgManyTypes      = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
	msgNesting        = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
	msgInvalidPrefix  = "One or more parameter values were invalid: "
	msgEmptySS        = msgInvalidPrefix + "An string set  may not be empty"
	msgEmptyNS        = msgInvalidPrefix + "An number set  may not be empty"
	msgEmptyBS        = msgInvalidPrefix + "Binary sets should not be empty"
	msgFalseNull      = msgInvalidPrefix + "Null attribute value types must have the value of true"
	msgDuplicateNS    = "Input collection contains duplicates"
	msgNotNumeric     = "The parameter cannot be converted to a numeric value"
	msgOverflow       = "Number overflow. Attempting to store a number with magnitude larger than supported range"
	msgUnderflow      = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
	msgManyDigits     = "Attempting to store more than 38 significant digits in a Number"
	msgNotBase64      = "only base-64-encoded strings are convertible to bytes"
	msgBase64Length   = "Base64 encoded length is expected a multiple of 4 bytes but found: "
	msgBase64Content  = "Invalid last non-pad Base64 character dectected"
	msgStructure      = "Start of structure or map found where not expected"
	msgFieldType      = "Unexpected field type"
	msgPayloadType    = "Unexpected value type in payload"
	msgParserToken    = "Unexpected token received from parser"
	msgCollection     = "Unrecognized collection type "
	classAttribute    = "com.amazonaws.dynamodb.v20120810.AttributeValue"
	classItem         = "java.util.Map<java.lang.String, " + classAttribute + ">"
	classString       = "class java.lang.String"
	classBytes        = "class java.nio.ByteBuffer"
	classBoolean      = "class java.lang.Boolean"
	msgConvertedToStr = " cannot be converted to "
)
