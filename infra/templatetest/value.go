package templatetest

import (
	"fmt"
	"strings"
)

// noValue stands for a property that is not there.
const noValue = "AWS::NoValue"

// At walks into a value by the keys of mappings; what is not there is nil.
func At(value any, path ...string) any {
	for _, key := range path {
		fields, _ := value.(map[string]any)
		value = fields[key]
	}
	return value
}

// Branches are all that a value may be, whichever conditions hold: Fn::If is taken both ways.
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

// List is a value that may be one or a list of them, under any conditions.
func List(value any) (all []any) {
	for _, branch := range Branches(value) {
		items, isList := branch.([]any)
		if !isList {
			items = []any{branch}
		}
		for _, item := range items {
			if item != nil {
				all = append(all, Branches(item)...)
			}
		}
	}
	return all
}

// Name is what a reference refers to, as text: "Table" for its ARN or Ref, "Table/stream" for its stream, and of Fn::Sub the text with
// the names in it: "Table/index/due". What is no reference is text already.
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
