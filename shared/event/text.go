package event

import (
	"fmt"

	"github.com/go-json-experiment/json"
)

// Text is a Payload as it was written when the event happened. Subscribers are sent these bytes, and the feed shows
// them: decoding and encoding them again would drop what this version of the code does not know, or word it in another
// way, and the two would differ. In answers it stands for the Payload that it is, and the document says so.
type Text string

// MarshalJSON implements json.Marshaler: the text is JSON already.
func (t Text) MarshalJSON() ([]byte, error) { return []byte(t), nil }

// text writes the payload.
func (p Payload) text() (Text, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("event: payload: %w", err)
	}
	return Text(text), nil
}
