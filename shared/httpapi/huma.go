package httpapi

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"devplatform/shared/fault"
)

// missing begins huma's message about an absent property, whose name it is followed by.
const missing = "missing "

// useHuma puts our errors and wording in place of huma's, which keeps both in package variables.
var useHuma = sync.OnceFunc(func() {
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return fromHuma(status, message, errs)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
		nulls := stateFrom(ctx.Context()).nulls // first: a resolver may take a field of null for a missing one
		return fromHuma(status, message, slices.Concat(nulls, errs))
	}
	huma.ValidateStrictCasing = true // else EMAIL satisfies "email is required", and the decoder then drops it
	validation.MsgExpectedRequiredProperty = missing + "%s"
	validation.MsgExpectedString = "must be a string"
	validation.MsgExpectedBoolean = "must be true or false"
	validation.MsgExpectedNumber = "must be a number"
	validation.MsgExpectedInteger = "must be a whole number"
	validation.MsgExpectedArray = "must be a list"
	validation.MsgExpectedObject = "must be an object"
	validation.MsgExpectedOneOf = "must be one of %s"
	validation.MsgExpectedRFC5322Email = "must be an e-mail address: %v"
	validation.MsgExpectedRFC3986URI = "must be a URI: %v"
	validation.MsgExpectedRFC3339DateTime = "must be an RFC 3339 time"
	validation.MsgExpectedMinLength = "must have at least %d characters"
	validation.MsgExpectedMaxLength = "must have at most %d characters"
	validation.MsgExpectedMinItems = "must have at least %d elements"
	validation.MsgExpectedMaxItems = "must have at most %d elements"
	validation.MsgExpectedMinimumNumber = "must be at least %v"
	validation.MsgExpectedMaximumNumber = "must be at most %v"
	validation.MsgExpectedArrayItemsUnique = "must not have an element twice"
	validation.MsgExpectedMatchPattern = "must match %s"
})

// fromHuma turns what huma refuses on its own into one of our errors. Its details hold the
// value that was sent, a password perhaps: only place and rule are taken from them.
func fromHuma(status int, _ string, errs []error) *fault.Error {
	var known *fault.Error
	for _, err := range errs {
		if errors.As(err, &known) {
			return known
		}
	}
	switch status {
	case http.StatusRequestEntityTooLarge:
		return errTooLarge
	case http.StatusUnsupportedMediaType:
		return errMediaType
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return invalid(errs)
	default:
		return AsError(errors.Join(errs...))
	}
}

func invalid(errs []error) *fault.Error {
	problems := make([]fault.Problem, len(errs))
	for i, err := range errs {
		problems[i] = fault.Field("body", "is not valid")
		var detail huma.ErrorDetailer
		if !errors.As(err, &problems[i]) && errors.As(err, &detail) {
			problems[i] = fault.Field(problem(detail.ErrorDetail()))
		}
	}
	return fault.Invalid(problems...)
}

func problem(d *huma.ErrorDetail) (field, rule string) {
	where, field, nested := strings.Cut(d.Location, ".")
	if name, ok := strings.CutPrefix(d.Message, missing); ok {
		if nested {
			return field + "." + name, "is required"
		}
		return name, "is required"
	}
	if place, ok := strings.CutPrefix(d.Message, misfit); ok {
		return cmp.Or(place, where), "has a value that does not fit"
	}
	if !nested {
		field = where
	}
	// What stands behind a colon quotes the value.
	rule, _, _ = strings.Cut(d.Message, ": ")
	if strings.HasPrefix(rule, "required ") {
		rule = "is required"
	}
	return field, rule
}
