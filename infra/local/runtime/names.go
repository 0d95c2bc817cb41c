package runtime

import (
	"regexp"
)

var (
	functionName = regexp.MustCompile(`^[a-zA-Z0-9-_]{1,64}$`)
	// functionReference is the pattern that AWS documents and quotes in its errors.
	functionReference = regexp.MustCompile(`^` + referencePattern + `$`)
	qualifierPattern  = regexp.MustCompile(`^(\$LATEST|[a-zA-Z0-9-_$]{1,128})$`)
)

const referencePattern = `(arn:(aws[a-zA-Z-]*)?:lambda:)?((eusc-)?[a-z]{2}((-gov)|(-iso([a-z]?)))?-[a-z]+-\d{1}:)?(\d{12}:)?(function:)?([a-zA-Z0-9-_\.]+)(:(\$LATEST(\.PUBLISHED)?|[a-zA-Z0-9-_]+))?`

// Groups of functionReference.
const (
	groupRegion    = 3
	groupAccount   = 9
	groupName      = 11
	groupQualifier = 13
)

// reference is a function as a client of the REST API names it.
type reference struct{ region, account, name, qualifier string }

// parseReference reads a name, a partial or a whole ARN, each with or without a qualifier.
func parseReference(text string) (reference, bool) {
	groups := functionReference.FindStringSubmatch(text)
	if groups == nil || len(text) > 170 {
		return reference{}, false
	}
	return reference{
		region: trimColon(groups[groupRegion]), account: trimColon(groups[groupAccount]),
		name: groups[groupName], qualifier: groups[groupQualifier],
	}, true
}

func trimColon(s string) string {
	if s == "" {
		return s
	}
	return s[:len(s)-1]
}
