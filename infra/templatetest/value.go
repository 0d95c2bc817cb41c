package templatetest

import (
	"fmt"
	"strings"
)

// noValue is the pseudo parameter that removes a property.
const noValue = "AWS::NoValue"

// At returns the value at a path of keys in nested mappings. It returns nil if there is no such value.
func At(value any, path ...string) any {
	for _, key := range path {
		fields, _ := value.(map[string]any)
		value = fields[key]
	}
	return value
}

// Branches returns all possible results of a value that can be an Fn::If: the results of both branches, without
// AWS::NoValue. The only result of any other value is the value itself.
func Branches(value any) []any {
	if At(value, "Ref") == noValue {
		return nil
	}
	branches, isIf := At(value, "Fn::If").([]any)
	if !isIf || len(branches) != 3 {
		return []any{value}
	}
	return append(Branches(branches[1]), Branches(branches[2])...)
}

// List returns all elements that a list can have. It includes the elements in both branches of every Fn::If. A value
// that is not a list is treated as a list with one element.
func List(value any) (elements []any) {
	for _, branch := range Branches(value) {
		items, isList := branch.([]any)
		if !isList {
			items = []any{branch}
		}
		for _, item := range items {
			if item != nil {
				elements = append(elements, Branches(item)...)
			}
		}
	}
	return elements
}

// Name returns a reference as text: "Table" for the Ref or the ARN of Table, and "Table/stream" for its stream. For
// Fn::Sub, it returns the text with the references replaced in the same way, such as "Table/index/due". It returns any
// other value as text.
func Name(value any) string {
	switch reference := value.(type) {
	case string:
		return reference
	case map[string]any:
		if id, ok := reference["Ref"].(string); ok {
			return id
		}
		if parts, ok := reference["Fn::GetAtt"].([]any); ok && len(parts) == 2 {
			if parts[1] == "StreamArn" {
				return fmt.Sprint(parts[0], "/stream")
			}
			return fmt.Sprint(parts[0])
		}
		if text, ok := reference["Fn::Sub"].(string); ok {
			return strings.NewReplacer("${", "", ".Arn}", "", "}", "").Replace(text)
		}
	}
	return fmt.Sprint(value)
}
