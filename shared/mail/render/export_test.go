package render

import (
	"maps"
	"slices"

	"devplatform/shared/mail"
)

// Kinds returns all kinds of mails that have a text.
func Kinds() []mail.Kind { return slices.Sorted(maps.Keys(allWords)) }
