package fault

import "strings"

// WholeBody is the field name for a rule about the whole request body.
const WholeBody = "body"

// MaxProblems is the maximum number of fields that an error names. It limits the size of the response to a request with
// very many invalid elements.
const MaxProblems = 20

// Problem reports that a field of a request breaks a rule.
type Problem struct {
	// Name is the field's name in the request, such as "operations[0].path".
	Name string
	// Rule completes the sentence that begins with the name, such as "must not be blank".
	Rule string
}

// Field returns the problem of a field that breaks a rule.
func Field(name, rule string) Problem { return Problem{Name: name, Rule: rule} }

// Error returns the text for the client.
func (p Problem) Error() string { return p.Name + ": " + p.Rule }

// Invalid returns a VALIDATION_FAILED error that names every invalid field with the first rule that it breaks:
// "email: is required; password: must be at least 8 characters long". It names at most MaxProblems fields. If there are
// more, the message ends with "and more". Without problems, the message says that the body is required.
func Invalid(problems ...Problem) *Error {
	var texts []string
	seen := map[string]bool{}
	for _, p := range problems {
		if seen[p.Name] {
			continue
		}
		if len(texts) == MaxProblems {
			texts = append(texts, "and more")
			break
		}
		seen[p.Name] = true
		texts = append(texts, p.Error())
	}
	if len(texts) == 0 {
		texts = []string{Field(WholeBody, "is required").Error()}
	}
	return New(CodeValidationFailed, strings.Join(texts, "; "))
}
