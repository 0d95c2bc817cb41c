package blueprint

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Literal are the fields of a struct with samples.
func (s goSheet) Literal(n int) string {
	parts := make([]string, len(s.Inputs))
	for i, f := range s.Inputs {
		parts[i] = f.Go + ": " + f.GoSample(n)
	}
	return strings.Join(parts, ", ")
}

// JSON is a sample as a client sends it.
func (s goSheet) JSON(n int) string {
	parts := make([]string, len(s.Inputs))
	for i, f := range s.Inputs {
		value := f.Sample(n)
		if f.IsText() {
			quoted, err := json.Marshal(value)
			if err == nil {
				value = string(quoted)
			}
		}
		parts[i] = strconv.Quote(f.Key) + ":" + value
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// CountRequired is how many fields can't be left empty.
func (s goSheet) CountRequired() int {
	n := 0
	for _, f := range s.Inputs {
		if f.Required {
			n++
		}
	}
	return n
}

// NeedsStrings reports whether a check looks for more than space.
func (s goSheet) NeedsStrings() bool {
	for _, f := range s.Inputs {
		if f.Required && (f.Type == text || f.Type == longtext) {
			return true
		}
	}
	return false
}

// NeedsProblem reports whether an answer can be no success.
func (s goSheet) NeedsProblem() bool { return s.HasOne() || s.HasBody() }

// Serves reports whether a store's package has a handler, too.
func (s goSheet) Serves() bool { return s.Handler }

// Pattern is a page's route for a ServeMux, Address one that it matches.
func (s goSheet) Pattern() string {
	if isOneOf(s.Route, []string{"/home", "/homepage", "/index"}) {
		return "/{$}"
	}
	return s.Route
}

// Address is as Pattern says.
func (s goSheet) Address() string { return strings.TrimSuffix(s.Pattern(), "{$}") }

// FullLower is the name as it was asked for, within a sentence.
func (s goSheet) FullLower() string { return strings.ToLower(s.Title) }

// Autocomplete is a field's autocomplete attribute.
func (s goSheet) Autocomplete(f goInput) string { return s.sheet.Autocomplete(f.input) }

// ID is a field in ids.
func (s goSheet) ID(f goInput) string { return s.sheet.ID(f.input) }

// CanFail reports whether a field has a check.
func (s goSheet) CanFail(f goInput) bool { return f.Type == number || s.sheet.CanFail(f.input) }
