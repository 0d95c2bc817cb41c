package dynamodb

import (
	"devplatform/infra/local/dynamodb/attr"
	"devplatform/infra/local/dynamodb/expr"
)

// expressions are the expression parameters that a request may have; each
// operation looks at its own. Parsed once, evaluated for every item.
type expressions struct {
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues attr.Item
	ConditionExpression       *string
	FilterExpression          *string
	KeyConditionExpression    *string
	ProjectionExpression      *string
	UpdateExpression          *string
}

// parsed are the expressions of one request, nil where there was none.
type parsed struct {
	condition  *expr.Condition
	filter     *expr.Condition
	key        *expr.KeyCondition
	projection *expr.Projection
	update     *expr.Update
}

// given lists the expressions of a request, in AWS's order.
func (e *expressions) given() []parameter {
	return []parameter{
		{"UpdateExpression", e.UpdateExpression != nil},
		{"ProjectionExpression", e.ProjectionExpression != nil},
		{"FilterExpression", e.FilterExpression != nil},
		{"ConditionExpression", e.ConditionExpression != nil},
		{"KeyConditionExpression", e.KeyConditionExpression != nil},
	}
}

// checkPlaceholders refuses names and values without an expression to use them.
// users says which expressions of the operation could use values, where AWS
// does.
func (e *expressions) checkPlaceholders(users string) error {
	values := e.UpdateExpression != nil || e.FilterExpression != nil || e.ConditionExpression != nil || e.KeyConditionExpression != nil
	if e.ExpressionAttributeNames != nil && !values && e.ProjectionExpression == nil {
		return invalid("ExpressionAttributeNames can only be specified when using expressions")
	}
	if e.ExpressionAttributeValues != nil && !values {
		return invalid("ExpressionAttributeValues can only be specified when using expressions%s", users)
	}
	return nil
}

// parseRenewed is parse where AWS checks values in its renewed way: whichever
// placeholder has it, a bad value is refused in the same words.
func (e *expressions) parseRenewed() (*parsed, error) {
	if err := e.ExpressionAttributeValues.Validate(); err != nil {
		return nil, err
	}
	return e.parse()
}

// parse parses all expressions in AWS's order and refuses unused placeholders.
func (e *expressions) parse() (*parsed, error) {
	p := &parsed{}
	none := len(givenNames(e.given())) == 0
	if none && e.ExpressionAttributeNames == nil && e.ExpressionAttributeValues == nil {
		return p, nil
	}
	scope, err := expr.NewScope(e.ExpressionAttributeNames, e.ExpressionAttributeValues)
	if err != nil {
		return nil, err
	}
	steps := []struct {
		source *string
		parse  func(source string) error
	}{
		{e.UpdateExpression, func(s string) (err error) { p.update, err = expr.ParseUpdate(s, scope); return err }},
		{e.FilterExpression, func(s string) (err error) {
			p.filter, err = expr.ParseCondition("FilterExpression", s, scope)
			return err
		}},
		{e.ConditionExpression, func(s string) (err error) {
			p.condition, err = expr.ParseCondition("ConditionExpression", s, scope)
			return err
		}},
		{e.KeyConditionExpression, func(s string) (err error) { p.key, err = expr.ParseKeyCondition(s, scope); return err }},
		{e.ProjectionExpression, func(s string) (err error) { p.projection, err = expr.ParseProjection(s, scope); return err }},
	}
	for _, step := range steps {
		if step.source == nil {
			continue
		}
		if err := step.parse(*step.source); err != nil {
			return nil, err
		}
	}
	return p, scope.CheckUnused()
}

// matches evaluates a condition; none is met.
func matches(condition *expr.Condition, item attr.Item) bool {
	return condition == nil || condition.Match(item)
}

// paths are all document paths that the expressions mention.
func (p *parsed) paths() []expr.Path {
	var all []expr.Path
	for _, c := range []*expr.Condition{p.condition, p.filter} {
		if c != nil {
			all = append(all, c.Paths()...)
		}
	}
	if p.projection != nil {
		all = append(all, p.projection.Paths()...)
	}
	if p.update != nil {
		all = append(append(all, p.update.Paths()...), p.update.Reads()...)
	}
	return all
}

// checkScalars refuses expressions that look for something inside of a key.
func (t *table) checkScalars(p *parsed) error {
	for _, path := range p.paths() {
		if !path.IsNested() {
			continue
		}
		if t.keys.has(path.Root()) {
			return invalid(errNotScalar+"Key: %s", path.Root())
		}
		for _, x := range t.indexes {
			if x.keys.has(path.Root()) {
				return invalid(errNotScalar+"IndexKey: %s", path.Root())
			}
		}
	}
	return nil
}

const errNotScalar = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
