package expressions

import (
	_ "embed"
	"strings"
)

// reservedWords are the "Reserved words in DynamoDB" of AWS's developer guide, with its misspellings.
//
//go:embed reserved.txt
var reservedWords string

// longestReserved is the length of LOCALTIMESTAMP.
const longestReserved = 14

var reserved = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(reservedWords) {
		words[word] = true
	}
	return words
}()

// isReserved reports whether an attribute name, in upper or lower case, must be written as a placeholder.
func isReserved(name string) bool {
	return len(name) <= longestReserved && reserved[strings.ToUpper(name)]
}
