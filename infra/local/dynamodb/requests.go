package dynamodb

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"devplatform/infra/local/awsjson"
	"devplatform/infra/local/dynamodb/expressions"
	"devplatform/infra/local/dynamodb/values"
)

// Error types.
const (
	typeValidation         = "ValidationException"
	typeConditionFailed    = "ConditionalCheckFailedException"
	typeNotFound           = "ResourceNotFoundException"
	typeInUse              = "ResourceInUseException"
	typeLimitExceeded      = "LimitExceededException"
	typeCanceled           = "TransactionCanceledException"
	typeIdempotentMismatch = "IdempotentParameterMismatchException"
	typeTrimmed            = "TrimmedDataAccessException"
	typeExpiredIterator    = "ExpiredIteratorException"
)

func invalid(format string, args ...any) error { return errorOf(typeValidation, format, args...) }

func errorOf(errorType, format string, args ...any) error {
	return &awsjson.Error{Type: errorType, Message: fmt.Sprintf(format, args...)}
}

// conditionFailed returns the error for a condition that the item does not meet. If item is not nil, the response
// contains it.
func conditionFailed(item values.Item) error {
	failed := &awsjson.Error{Type: typeConditionFailed, Message: "The conditional request failed"}
	if item != nil {
		failed.Fields = map[string]any{"Item": item}
	}
	return failed
}

// cancellationReason is the result of one action of a canceled transaction.
type cancellationReason struct {
	Code    string
	Item    values.Item `json:",omitzero"`
	Message string      `json:",omitzero"`
}

// asReason returns the reason for an error of an action, or nil if the error rejects the whole request.
func asReason(err error) *cancellationReason {
	switch response := asAPIError(err); {
	case response == nil:
		return nil
	case response.Type == typeConditionFailed:
		item, _ := response.Fields["Item"].(values.Item)
		return &cancellationReason{Code: "ConditionalCheckFailed", Message: response.Message, Item: item}
	case response.Type == typeValidation:
		return &cancellationReason{Code: "ValidationError", Message: response.Message}
	}
	return nil
}

// canceled returns the error for a transaction with the reasons, in the order of the actions. It returns nil if all
// reasons are nil.
func canceled(reasons []*cancellationReason) error {
	if !slices.ContainsFunc(reasons, func(r *cancellationReason) bool { return r != nil }) {
		return nil
	}
	codes := make([]string, len(reasons))
	for i, reason := range reasons {
		if reason == nil {
			reasons[i] = &cancellationReason{Code: "None"}
		}
		codes[i] = reasons[i].Code
	}
	return &awsjson.Error{
		Type: typeCanceled,
		Message: "Transaction cancelled, please refer cancellation reasons for specific reasons " +
			"[" + strings.Join(codes, ", ") + "]",
		Fields: map[string]any{"CancellationReasons": reasons},
	}
}

// legacyParameters are the parameters that expressions have replaced.
var legacyParameters = []string{
	"AttributesToGet", "AttributeUpdates", "ConditionalOperator", "Expected", "KeyConditions", "QueryFilter", "ScanFilter",
}

// asAPIError returns the response for an error. It returns nil for an internal error.
func asAPIError(err error) *awsjson.Error {
	if response := (*awsjson.Error)(nil); errors.As(err, &response) {
		return response
	}
	if rejected := (*values.Error)(nil); errors.As(err, &rejected) {
		if rejected.Serialization {
			return &awsjson.Error{Type: awsjson.TypeSerialization, Message: rejected.Message}
		}
		return &awsjson.Error{Type: typeValidation, Message: rejected.Message}
	}
	if unknown := (*json.SemanticError)(nil); errors.Is(err, json.ErrUnknownName) && errors.As(err, &unknown) {
		name := unknown.JSONPointer.LastToken()
		if slices.Contains(legacyParameters, name) {
			return &awsjson.Error{
				Type: typeValidation,
				Message: "Can not use both expression and non-expression parameters. " +
					"The embedded DynamoDB does not support the non-expression parameter " + name + ": use expressions",
			}
		}
		return &awsjson.Error{
			Type: typeValidation, Message: "The embedded DynamoDB does not support the parameter " + name,
		}
	}
	return nil
}

// Limits of requests.
const (
	maxBatchWrites = 25

	minNameBytes     = 3
	maxNameBytes     = 255
	maxItemBytes     = 400 << 10
	maxBatchGets     = 100
	maxTransactItems = 100
	maxTransactBytes = 4 << 20
	maxTokenLength   = 36
	maxSegments      = 1_000_000
)

const nameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

var errItemTooLarge = invalid("Item size has exceeded the maximum allowed size")

const arnPrefix = "arn:aws:dynamodb:"

// tableName returns the name of a table. ref is the name or the ARN.
func tableName(ref string) string {
	if !strings.HasPrefix(ref, arnPrefix) {
		return ref
	}
	_, name, _ := strings.Cut(ref, ":table/")
	name, _, _ = strings.Cut(name, "/")
	return name
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func required(member string, present bool) error {
	if present {
		return nil
	}
	return invalid("The parameter %s is required", member)
}

func checkName(member, name string) error {
	switch {
	case name == "":
		return required(member, false)
	case strings.HasPrefix(name, arnPrefix):
		return nil
	case len(name) < minNameBytes || len(name) > maxNameBytes || strings.Trim(name, nameCharacters) != "":
		return invalid("%s must have 3 to 255 letters, digits, '_', '.' or '-'", member)
	}
	return nil
}

func checkTable(name string) error { return checkName("TableName", name) }

func checkIndexName(name string) error { return checkName("IndexName", name) }

func oneOf(member, value string, allowed ...string) error {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return invalid("%s must be one of %s", member, strings.Join(allowed, ", "))
}

func between[T int32 | int64](member string, value *T, least, most T) error {
	if value == nil || least <= *value && *value <= most {
		return nil
	}
	return invalid("%s must have a value between %d and %d", member, least, most)
}

func length(member string, n, least, most int) error {
	if least <= n && n <= most {
		return nil
	}
	return invalid("%s must have a length between %d and %d", member, least, most)
}

// limitOr returns a limit, or the fallback if the request has none.
func limitOr(limit *int32, fallback int) int {
	if limit == nil {
		return fallback
	}
	return int(*limit)
}

func checkCapacity(mode string) error {
	return oneOf("ReturnConsumedCapacity", mode, "INDEXES", "TOTAL", "NONE")
}

func checkMetrics(mode string) error {
	return oneOf("ReturnItemCollectionMetrics", mode, "SIZE", "NONE")
}

func checkFailureReturn(mode string) error {
	return oneOf("ReturnValuesOnConditionCheckFailure", mode, "ALL_OLD", "NONE")
}

func checkItemSize(item values.Item) error {
	if item.Size() > maxItemBytes {
		return errItemTooLarge
	}
	return nil
}

// parsedExpressions are the parsed expressions of a request. Expressions that the request does not have are nil.
type parsedExpressions struct {
	Condition  *expressions.Condition
	Filter     *expressions.Condition
	Key        *expressions.KeyCondition
	Projection *expressions.Projection
	Update     *expressions.Update
	Paths      []expressions.Path // all document paths
}

// placeholders are the names and values that a request's expressions use.
type placeholders struct {
	ExpressionAttributeNames  map[string]string `json:",omitzero"`
	ExpressionAttributeValues values.Item       `json:",omitzero"`

	Parsed parsedExpressions `json:"-"` // set by the request's check
}

// expressionTexts are the expressions of a request. Expressions that the request does not have are nil.
type expressionTexts struct{ condition, filter, key, projection, update *string }

// parse parses all expressions, and rejects placeholders that they do not use.
func (p *placeholders) parse(s expressionTexts) error {
	withValues := cmp.Or(s.condition, s.filter, s.key, s.update)
	switch {
	case p.ExpressionAttributeNames != nil && cmp.Or(withValues, s.projection) == nil:
		return invalid("ExpressionAttributeNames can only be specified when using expressions")
	case p.ExpressionAttributeValues != nil && withValues == nil:
		return invalid("ExpressionAttributeValues can only be specified when using expressions")
	case cmp.Or(withValues, s.projection) == nil:
		return nil
	}
	scope, err := expressions.NewScope(p.ExpressionAttributeNames, p.ExpressionAttributeValues)
	if err == nil && s.update != nil {
		p.Parsed.Update, err = expressions.ParseUpdate(*s.update, scope)
	}
	if err == nil && s.filter != nil {
		p.Parsed.Filter, err = expressions.ParseCondition("FilterExpression", *s.filter, scope)
	}
	if err == nil && s.condition != nil {
		p.Parsed.Condition, err = expressions.ParseCondition("ConditionExpression", *s.condition, scope)
	}
	if err == nil && s.key != nil {
		p.Parsed.Key, err = expressions.ParseKeyCondition(*s.key, scope)
	}
	if err == nil && s.projection != nil {
		p.Parsed.Projection, err = expressions.ParseProjection(*s.projection, scope)
	}
	if err != nil {
		return err
	}
	p.Parsed.Paths = scope.Paths()
	return scope.CheckUnused()
}

// require returns a ConditionalCheckFailedException if the item does not meet the condition. The error contains the
// item if returnOnFailure is ALL_OLD.
func (e *parsedExpressions) require(item values.Item, returnOnFailure string) error {
	if e.Condition.Match(item) {
		return nil
	}
	if returnOnFailure != "ALL_OLD" {
		item = nil
	}
	return conditionFailed(item)
}
