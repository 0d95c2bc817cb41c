package queue_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestPoison(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		record string
		want   string
	}{
		"record": {
			record: `{"dynamodb": {"SequenceNumber": "1"}}`,
			want:   `{"reason":"not an event","record":{"dynamodb":{"SequenceNumber":"1"}}}`,
		},
		"not JSON": {
			record: "{\x00\xff",
			want:   `{"reason":"not an event","record":"{\u0000` + "\uFFFD" + `"}`,
		},
		"empty": {
			record: "",
			want:   `{"reason":"not an event","record":""}`,
		},
		"noncharacters": {
			record: "{\"a\":\"\uFFFE\uFFFF\U0001F600\"}",
			want:   `{"reason":"not an event","record":{"a":"\ufffe\uffff` + "\U0001F600" + `"}}`,
		},
		"duplicate names": {
			record: `{"a":1,"a":2}`,
			want:   `{"reason":"not an event","record":"{\"a\":1,\"a\":2}"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, q := newFake(t)
			if err := q.Poison(t.Context(), []byte(tc.record), errors.New("not an event")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tc.want}, f.bodies()); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPoisonMessage(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	if err := q.PoisonMessage(t.Context(), "id-1", "a \"body\" \xff", errors.New("the delivery is missing")); err != nil {
		t.Fatal(err)
	}
	want := `{"message":{"body":"a \"body\" ` + "\uFFFD" + `","messageId":"id-1"},"reason":"the delivery is missing"}`
	if diff := cmp.Diff([]string{want}, f.bodies()); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// The message contains the beginning and the end of a long record. A stream record has its keys and its sequence number
// there.
func TestLongPoison(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"letters":                "x",
		"escaped control":        `\u0001`,
		"raw control characters": "\x01",
		"4-byte characters":      "\U0001F600",
		"invalid UTF-8":          "x\xff",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, q := newFake(t)
			const begin, end = `{"Keys":"first","NewImage":"`, `","SequenceNumber":"last"}`
			record := begin + strings.Repeat(content, 2<<20/len(content)) + end
			reason := errors.New(strings.Repeat("é", 1<<20))
			if err := q.Poison(t.Context(), []byte(record), reason); err != nil {
				t.Fatal(err)
			}
			body := f.bodies()[0]
			var got struct{ Reason, Record string }
			if err := json.Unmarshal([]byte(body), &got); err != nil || !utf8.ValidString(body) || len(body) > 1<<20 {
				t.Fatalf("got a message of %d bytes, %v, want valid JSON of at most 1 MB", len(body), err)
			}
			if !strings.HasPrefix(got.Record, begin) || !strings.HasSuffix(got.Record, end) {
				t.Errorf("got record %.60s … %s, want its beginning and its end", got.Record, got.Record[len(got.Record)-60:])
			}
			if !strings.Contains(got.Record, "bytes cut") {
				t.Error("the record does not contain the mark of the cut")
			}
			if len(got.Reason) > 5<<10 || !strings.HasPrefix(got.Reason, "éé") {
				t.Errorf("got a reason of %d bytes, want the beginning of the reason in at most 5 KB", len(got.Reason))
			}
		})
	}
}

// FuzzPoison checks that the message contains only characters that SQS accepts.
func FuzzPoison(f *testing.F) {
	f.Add([]byte(`{"a":"\ud800"}`), "reason")
	f.Add([]byte("\uFFFE"), "\uFFFF\x00")
	f.Fuzz(func(t *testing.T, record []byte, reason string) {
		fake, q := newFake(t)
		if err := q.Poison(t.Context(), record, errors.New(reason)); err != nil {
			t.Fatal(err)
		}
		for _, r := range fake.bodies()[0] {
			if r < ' ' || r == 0xFFFE || r == 0xFFFF {
				t.Errorf("the message contains %U, which SQS does not accept", r)
			}
		}
	})
}
