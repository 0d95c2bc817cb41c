package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// PageInput selects a page of a list. Inputs of list endpoints embed it.
type PageInput struct {
	// Limit is 0 if the request has no limit.
	Limit  int    `query:"limit" minimum:"1" maximum:"100" doc:"The maximum number of elements to return" example:"50"`
	Cursor string `query:"cursor" doc:"The nextCursor of the previous page" example:"AmsxpZ3K0bQ7"`
}

// DefaultLimit is the number of elements on a page of a chronological list (events, deliveries, messages, comments,
// history) if the request has no limit.
const DefaultLimit = 50

// errCursor reports a cursor that was not issued by this service, or was issued for another list.
var errCursor = fault.Invalid(fault.Field("cursor", "must be the nextCursor of a page of this list"))

// ListScope returns the scope of a list's cursors: the kind of list, the caller, and the filters of the request. A
// cursor is valid only in the scope for which it was issued. Different lists have different scopes.
func ListScope(caller Caller, list string, filters ...string) string {
	var b strings.Builder
	b.WriteString(list)
	for _, part := range append([]string{caller.UserID}, filters...) {
		b.WriteString(" " + strconv.Quote(part))
	}
	return b.String()
}

// ReadPage reads one page of a chronological list. read returns up to n elements after a position ("" for the
// beginning). position returns the position of an element. ReadPage reads one element more than the page has, to find
// out whether there is another page. scope identifies the list (see ListScope). Errors: db.ErrCursor for an invalid
// cursor; the errors of read.
func ReadPage[T any](
	ctx context.Context, cursors *db.Cursors, scope string, in PageInput,
	read func(ctx context.Context, after string, n int) ([]T, error), position func(T) string,
) (page []T, next string, err error) {
	after, err := cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := cmp.Or(in.Limit, DefaultLimit)
	all, err := read(ctx, after, limit+1)
	if err != nil {
		return nil, "", err
	}
	return CutPage(ctx, cursors, scope, all, limit, position)
}

// CutPage returns the first elements of a list: at most limit (0 means no limit), and only as many as fit into one
// response (see Fit). If elements remain, it also returns the cursor of the next page.
func CutPage[T any](
	ctx context.Context, cursors *db.Cursors, scope string, all []T, limit int, position func(T) string,
) (page []T, next string, err error) {
	n := Fit(all, limit)
	if n == len(all) {
		return all, "", nil
	}
	next, err = cursors.Seal(ctx, scope, position(all[n-1]))
	return all[:n], next, err
}

// Done is the response of an operation that returns no resource.
type Done struct {
	Success bool   `json:"success" doc:"Always true" example:"true"`
	Message string `json:"message" doc:"The result as a sentence, for people" example:"Done."`
}

// DoneOutput is the output of an operation that returns Done and no headers.
type DoneOutput struct{ Body Done }

// ReplyDone returns the output of an operation that returns Done, or err if the operation failed.
func ReplyDone(message string, err error) (*DoneOutput, error) {
	if err != nil {
		return nil, err
	}
	return &DoneOutput{Body: Done{Success: true, Message: message}}, nil
}

const (
	// maxList is the maximum size of a list in a response, in bytes after JSON escaping. Lambda's limit for a whole
	// response is 6 MB.
	maxList = 4<<20 - reserved
	// reserved is the space for the other fields of the response, such as the cursor.
	reserved = 16 << 10
)

// Bounded is an item of a list that knows an upper bound of the size of its JSON, in bytes after the escaping in a
// proxy response. Fit then does not have to encode the items of most lists.
type Bounded interface{ MaxJSON() int }

// MaxJSONByte is the maximum number of bytes that one byte of a text needs in a response: a control character becomes
// \u001f, whose backslash is escaped again.
const MaxJSONByte = 7

// surelyFit reports whether all items fit into one response, without encoding them. It also returns false if it cannot
// decide.
func surelyFit[T any](items []T) bool {
	sum := 0
	for i := range items {
		bounded, ok := any(&items[i]).(Bounded)
		if !ok {
			return false
		}
		if sum += bounded.MaxJSON() + 1; sum > maxList {
			return false
		}
	}
	return true
}

// Fit returns how many of the first items fit into one response: at most limit (0 means no limit), and at most
// 4 MiB of JSON, measured after the escaping in a proxy response. At least one item always fits. Fit encodes each item
// once, unless the items are Bounded and surely fit. If an item cannot be encoded, Fit ignores the maximum size, and
// the encoding of the response reports the error.
func Fit[T any](items []T, limit int) int {
	if limit > 0 && len(items) > limit {
		items = items[:limit]
	}
	if surelyFit(items) {
		return len(items)
	}
	var size escapedSize
	encoder := jsontext.NewEncoder(&size)
	for i := range items {
		if json.MarshalEncode(encoder, &items[i]) != nil {
			return len(items)
		}
		if size > maxList && i > 0 {
			return i
		}
	}
	return len(items)
}

// escapedSize counts the bytes of the JSON written to it, as if it were escaped in a JSON string. The encoder writes a
// newline after every value, which counts as the comma between the elements of a list.
type escapedSize int

func (s *escapedSize) Write(p []byte) (int, error) {
	*s += escapedSize(len(p) + bytes.Count(p, quote) + bytes.Count(p, backslash))
	return len(p), nil
}

var quote, backslash = []byte{'"'}, []byte{'\\'}
