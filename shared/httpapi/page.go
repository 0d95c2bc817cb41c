package httpapi

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/fault"
)

// PageInput asks for a part of a list (API.md §1). Inputs of lists embed it.
type PageInput struct {
	// Limit is 0 if none was asked for.
	Limit  int    `query:"limit" minimum:"1" maximum:"100" doc:"The largest number of elements to answer with" example:"50"`
	Cursor string `query:"cursor" doc:"The nextCursor of the page before" example:"AmsxpZ3K0bQ7"`
}

// ListScope names a list for its cursors: what it lists, to whom, and every choice that the request made. No two lists have one
// name.
func ListScope(ctx context.Context, list string, choices ...string) string {
	var b strings.Builder
	b.WriteString(list)
	for _, choice := range append([]string{CallerFrom(ctx).UserID}, choices...) {
		b.WriteString(" " + strconv.Quote(choice))
	}
	return b.String()
}

// errCursor is what db.ErrCursor is answered with.
var errCursor = fault.Invalid(fault.Field("cursor", "is not one that this list gave out"))

// Done is the answer of an operation that has nothing to show for itself.
type Done struct {
	Success bool   `json:"success" doc:"Always true" example:"true"`
	Message string `json:"message" doc:"What happened, for people" example:"Done."`
}

const (
	// maxList is how large a list may be in an answer, in bytes as escaped (API.md §1): Lambda takes 6 MB.
	maxList = 4<<20 - besideList
	// besideList is kept for what stands around the list: its name, a cursor, the fields of what it belongs to.
	besideList = 16 << 10
)

// Fit is how many of the items, from the first one on, go into one answer: at most limit, unless that is 0, and no more
// than 4 MiB of JSON as it is escaped once more inside of a proxy response; but at least one, if there is any.
//
// It encodes each item once and keeps nothing. One that can't be encoded fits: the answer itself fails on it.
func Fit[T any](items []T, limit int) int {
	if limit > 0 && len(items) > limit {
		items = items[:limit]
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

// escapedSize is how many bytes the JSON written to it has as a string in another JSON. The encoder ends every value
// with a line break, which stands for the comma of a list.
type escapedSize int

func (s *escapedSize) Write(p []byte) (int, error) {
	*s += escapedSize(len(p) + bytes.Count(p, quote) + bytes.Count(p, backslash))
	return len(p), nil
}

var quote, backslash = []byte{'"'}, []byte{'\\'}
