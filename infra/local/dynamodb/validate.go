package dynamodb

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of the service.
const (
	maxItemBytes       = 400 << 10
	maxHashKeyBytes    = 2048
	maxRangeKeyBytes   = 1024
	maxNameBytes       = 255
	minNameBytes       = 3
	maxViolations      = 10
	maxExpressionBytes = 4 << 10
)

// Enumerations, in the order in which AWS lists them.
var (
	capacityModes  = []string{"INDEXES", "TOTAL", "NONE"}
	metricsModes   = []string{"SIZE", "NONE"}
	returnValues   = []string{"ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"}
	failureReturns = []string{"ALL_OLD", "NONE"}
	selectModes    = []string{"SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"}
	billingModes   = []string{"PROVISIONED", "PAY_PER_REQUEST"}
	attributeTypes = []string{"B", "N", "S"}
	keyTypes       = []string{"HASH", "RANGE"}
	projections    = []string{"ALL", "INCLUDE", "KEYS_ONLY"}
	tableClasses   = []string{"STANDARD", "STANDARD_INFREQUENT_ACCESS"}
)

const namePattern = "[a-zA-Z0-9_.-]+"

var nameRegexp = regexp.MustCompile("^" + namePattern + "$")

// violations collects what a request's members break, as AWS reports them: all
// together, at most ten.
type violations struct{ texts []string }

func (v *violations) add(value, member, constraint string) {
	if len(v.texts) < maxViolations {
		v.texts = append(v.texts, "Value "+value+" at '"+member+"' failed to satisfy constraint: "+constraint)
	}
}

func (v *violations) required(present bool, member string) {
	if !present {
		v.add("null", member, "Member must not be null")
	}
}

// enum checks a value that may be absent.
func (v *violations) enum(value, member string, allowed []string) {
	if value != "" && !slices.Contains(allowed, value) {
		v.add("'"+value+"'", member, "Member must satisfy enum value set: ["+strings.Join(allowed, ", ")+"]")
	}
}

// choice checks a value that must be there, and be one of those allowed.
func (v *violations) choice(value *string, member string, allowed []string) {
	v.required(value != nil, member)
	if value != nil && !slices.Contains(allowed, *value) {
		v.add("'"+*value+"'", member, "Member must satisfy enum value set: ["+strings.Join(allowed, ", ")+"]")
	}
}

// text checks the presence of a member, and its length.
func (v *violations) text(value *string, member string, least, most int) {
	v.required(value != nil, member)
	v.optionalText(value, member, least, most)
}

func (v *violations) optionalText(value *string, member string, least, most int) {
	switch {
	case value == nil:
	case len(*value) < least:
		v.add("'"+*value+"'", member, fmt.Sprintf("Member must have length greater than or equal to %d", least))
	case len(*value) > most:
		v.add("'"+*value+"'", member, fmt.Sprintf("Member must have length less than or equal to %d", most))
	}
}

func atLeast[T int32 | int64](v *violations, value *T, member string, least T) {
	if value != nil && *value < least {
		v.add(fmt.Sprintf("'%d'", *value), member, fmt.Sprintf("Member must have value greater than or equal to %d", least))
	}
}

func atMost[T int32 | int64](v *violations, value *T, member string, most T) {
	if value != nil && *value > most {
		v.add(fmt.Sprintf("'%d'", *value), member, fmt.Sprintf("Member must have value less than or equal to %d", most))
	}
}

// name checks the name of a table or index under the given shortest length.
func (v *violations) name(value *string, member string, shortest int) {
	if value == nil {
		v.required(false, member)
		return
	}
	quoted := "'" + *value + "'"
	if *value != "" && !nameRegexp.MatchString(*value) {
		v.add(quoted, member, "Member must satisfy regular expression pattern: "+namePattern)
	}
	if len(*value) < shortest {
		v.add(quoted, member, fmt.Sprintf("Member must have length greater than or equal to %d", shortest))
	}
	if len(*value) > maxNameBytes {
		v.add(quoted, member, fmt.Sprintf("Member must have length less than or equal to %d", maxNameBytes))
	}
}

// length checks that a list has between 1 and longest elements; it is shown as
// AWS would.
func (v *violations) length(n int, shown func() string, member string, longest int) {
	switch {
	case n < 1:
		v.add("'"+shown()+"'", member, "Member must have length greater than or equal to 1")
	case n > longest:
		v.add("'"+shown()+"'", member, fmt.Sprintf("Member must have length less than or equal to %d", longest))
	}
}

func (v *violations) err() error {
	switch len(v.texts) {
	case 0:
		return nil
	case 1:
		return invalid("%s%s", oneError, v.texts[0])
	default:
		return invalid("%d validation errors detected: %s", len(v.texts), strings.Join(v.texts, "; "))
	}
}

// tableRef is a table's name or ARN in a request. An empty one is refused
// before anything else is looked at.
type tableRef struct{ TableName *string }

func (r *tableRef) checkEmpty() error {
	if r.TableName != nil && *r.TableName == "" {
		return invalid("%sValue at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1", oneError)
	}
	return nil
}

func (r *tableRef) check(v *violations) {
	if r.TableName != nil && strings.HasPrefix(*r.TableName, arnPrefix) {
		return
	}
	v.name(r.TableName, "tableName", 1)
}

const arnPrefix = "arn:aws:dynamodb:"

// tableNameOf finds the name in a table's name or ARN.
func tableNameOf(ref string) string {
	if !strings.HasPrefix(ref, arnPrefix) {
		return ref
	}
	_, name, _ := strings.Cut(ref, ":table/")
	name, _, _ = strings.Cut(name, "/")
	return name
}

// refused is a parameter that AWS would act on and this engine does not: only
// whether it was given matters.
type refused bool

// UnmarshalJSONFrom notes a value other than null, of any type.
func (p *refused) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*p = dec.PeekKind() != jsontext.KindNull
	return dec.SkipValue() //nolint:wrapcheck // the decoder's own error is what the caller words
}

// parameter is a name of the API and whether a request has it.
type parameter struct {
	name  string
	given bool
}

// refuse reports the first parameter given that is not supported.
func refuse(parameters ...parameter) error {
	for _, p := range parameters {
		if p.given {
			return invalid("The parameter %s is not supported by the embedded DynamoDB", p.name)
		}
	}
	return nil
}

// refuseLegacy reports parameters from before expressions: in AWS's words when
// a request mixes both, by name otherwise.
func refuseLegacy(legacy, expressions []parameter) error {
	old := givenNames(legacy)
	if len(old) == 0 {
		return nil
	}
	if modern := givenNames(expressions); len(modern) > 0 {
		return invalid("Can not use both expression and non-expression parameters in the same request: "+
			"Non-expression parameters: {%s} Expression parameters: {%s}", strings.Join(old, ", "), strings.Join(modern, ", "))
	}
	return invalid("The legacy parameter %s is not supported by the embedded DynamoDB: use expressions", old[0])
}

func givenNames(parameters []parameter) []string {
	var names []string
	for _, p := range parameters {
		if p.given {
			names = append(names, p.name)
		}
	}
	return names
}
