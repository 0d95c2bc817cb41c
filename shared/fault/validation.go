package fault

import "strings"

// WholeBody is the name of the field for a rule that the request body as a whole breaks.
const WholeBody = "body"

// maxProblems is the largest number of fields that an error names. A list with a million invalid elements must not
// produce a response that no gateway accepts.
const maxProblems = 20

// Problem is a field of a request that breaks a rule.
type Problem struct {
	// Name is the field's name as the client knows it, such as "operations[0].path".
	Name string
	// Rule completes the sentence that begins with the name, such as "must not be blank".
	Rule string
}

// Field returns the problem of a field that breaks a rule.
func Field(name, rule string) Problem { return Problem{Name: name, Rule: rule} }

// Error returns the text for the client.
func (p Problem) Error() string { return p.Name + ": " + p.Rule }

// Invalid returns a VALIDATION_FAILED error that names every invalid field with the first rule that it breaks:
// "email: is required; password: must have at least 8 characters". It names at most 20 fields.
func Invalid(problems ...Problem) *Error {
	var texts []string
	seen := map[string]bool{}
	for _, p := range problems {
		if !seen[p.Name] && len(texts) < maxProblems {
			seen[p.Name] = true
			texts = append(texts, p.Error())
		}
	}
	if len(texts) == 0 {
		texts = []string{Field(WholeBody, "is required").Error()}
	}
	return New(CodeValidationFailed, strings.Join(texts, "; "))
}
