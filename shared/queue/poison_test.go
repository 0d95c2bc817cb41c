package queue_test

import (
	"encoding/json"
	"errors"
	"fmt"
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
		"record":          {`{"dynamodb": {"SequenceNumber": "1"}}`, `{"reason":"no event","record":{"dynamodb":{"SequenceNumber":"1"}}}`},
		"not JSON":        {"{\x00\xff", `{"reason":"no event","record":"{\u0000` + "\uFFFD" + `"}`},
		"empty":           {"", `{"reason":"no event","record":""}`},
		"noncharacters":   {"{\"a\":\"\uFFFE\uFFFF\U0001F600\"}", `{"reason":"no event","record":{"a":"\ufffe\uffff` + "\U0001F600" + `"}}`},
		"duplicate names": {`{"a":1,"a":2}`, `{"reason":"no event","record":"{\"a\":1,\"a\":2}"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, q := newFake(t)
			if err := q.Poison(t.Context(), []byte(tc.record), errors.New("no event")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tc.want}, f.bodies()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPoisonMessage(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	if err := q.PoisonMessage(t.Context(), "id-1", "a \"body\" \xff", errors.New("names no delivery")); err != nil {
		t.Fatal(err)
	}
	want := `{"message":{"body":"a \"body\" ` + "\uFFFD" + `","messageId":"id-1"},"reason":"names no delivery"}`
	if diff := cmp.Diff([]string{want}, f.bodies()); diff != "" {
		t.Error(diff)
	}
}

// The message contains the beginning and the end of a long record, where a stream's record has its keys and its
// number.
func TestLongPoison(t *testing.T) {
	t.Parallel()
	for name, filling := range map[string]string{
		"letters": "x", "control characters": `\u0001`, "raw control characters": "\x01", "wide characters": "\U0001F600", "invalid UTF-8": "x\xff",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, q := newFake(t)
			record := fmt.Sprintf(`{"Keys":"first","NewImage":"%s","SequenceNumber":"last"}`, strings.Repeat(filling, 2<<20/len(filling)))
			reason := errors.New(strings.Repeat("é", 1<<20))
			if err := q.Poison(t.Context(), []byte(record), reason); err != nil {
				t.Fatal(err)
			}
			body := f.bodies()[0]
			var got struct{ Reason, Record string }
			if err := json.Unmarshal([]byte(body), &got); err != nil || !utf8.ValidString(body) || len(body) > 1<<20 {
				t.Fatalf("%v, %d bytes", err, len(body))
			}
			if !strings.HasPrefix(got.Record, `{"Keys":"first","NewImage":"`) || !strings.HasSuffix(got.Record, `","SequenceNumber":"last"}`) {
				t.Errorf("%.60s … %s", got.Record, got.Record[len(got.Record)-60:])
			}
			if !strings.Contains(got.Record, "bytes cut") || len(got.Reason) > 5<<10 || !strings.HasPrefix(got.Reason, "éé") {
				t.Errorf("%d bytes of a reason", len(got.Reason))
			}
		})
	}
}

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
				t.Errorf("SQS does not accept %U", r)
			}
		}
	})
}
