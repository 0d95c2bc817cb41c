package openai

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The limits of an answer protect the memory of the function from a server that does not follow the protocol.
const (
	// maxAnswer is the maximum number of bytes that are read from a stream. It is a hundred times the size of a long
	// answer.
	maxAnswer = 64 << 20
	// maxEvent is the maximum number of bytes of an event, or of a whole answer.
	maxEvent = 4 << 20
	// maxPending is the maximum number of bytes of all texts, inputs and IDs of an answer.
	maxPending = 4 << 20
	// maxPieces is the maximum number of calls of an answer.
	maxPieces = 1000
	// maxElements is the maximum number of elements of a list in an event.
	maxElements = 250
	// maxName is the maximum number of bytes of the name of a model or a tool, and of the ID of a call. The client of a
	// stream receives the ID with each part of the input.
	maxName = 256
)

var errTooLarge = errors.New("the answer is too large")

// list is a JSON array with at most maxElements elements. In memory, an element can need a hundred times the bytes of
// its JSON.
type list[T any] []T

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *list[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '[' {
		return json.UnmarshalDecode(d, (*[]T)(l))
	}
	_, _ = d.ReadToken()
	*l = nil
	for d.PeekKind() != ']' {
		var element T
		if err := json.UnmarshalDecode(d, &element); err != nil {
			return err
		}
		if *l = append(*l, element); len(*l) > maxElements {
			return errTooLarge
		}
	}
	_, err := d.ReadToken()
	return err
}
