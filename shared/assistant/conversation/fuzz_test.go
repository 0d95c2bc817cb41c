package conversation

import (
	"fmt"
	"testing"
	"unicode/utf8"

	dynamo "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/clock"
	"devplatform/shared/db"
)

const (
	fuzzProject = "prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	fuzzMessage = "msg_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
)

// withPartKey sets the key of item to the key of a message's part, and returns item. The key need not be valid.
func withPartKey(item db.Item, messageID, number string) db.Item {
	key := db.MessageKey(fuzzProject, fuzzMessage, 0)
	item[db.AttrPK] = &dynamo.AttributeValueMemberS{Value: key.PK}
	item[db.AttrSK] = &dynamo.AttributeValueMemberS{Value: "MSG#" + messageID + "#" + number}
	return item
}

// FuzzMessage checks that a message is read unchanged after it was stored, if it is valid UTF-8.
func FuzzMessage(f *testing.F) {
	f.Add("Hello", "const a = 1\n", "scaffold", 3, 5)
	f.Add("", "", "", 0, 0)
	f.Add("\xff\ud7ff\u2028</script>", "\x00", "é", -1, 1<<40)
	f.Fuzz(func(t *testing.T, text, code, modelName string, input, output int) {
		want := Message{
			ID: fuzzMessage, Role: model.Assistant, Content: text, Code: code, Model: modelName,
			Usage: model.Usage{Input: input, Output: output},
		}
		parts, err := want.parts()
		if err != nil {
			t.Fatal(err)
		}
		if len(parts) > maxParts {
			t.Fatalf("got %d parts, want at most %d", len(parts), maxParts)
		}
		var a assembler
		for n, part := range parts {
			if err := a.addPart(db.MessagesOf(fuzzProject), withPartKey(part, fuzzMessage, fmt.Sprint(n))); err != nil {
				t.Fatal(err)
			}
		}
		if len(a.messages) != 1 {
			t.Fatalf("got %d messages from %d parts, want 1", len(a.messages), len(parts))
		}
		if !utf8.ValidString(text) || !utf8.ValidString(code) || !utf8.ValidString(modelName) {
			return
		}
		if diff := cmp.Diff(want, a.messages[0], cmp.Comparer(clock.Timestamp.Equal)); diff != "" {
			t.Fatalf("message (-want +got):\n%s", diff)
		}
	})
}

// FuzzStored checks that decoding an arbitrary item returns a record or an error.
func FuzzStored(f *testing.F) {
	for _, seed := range []string{
		`{"role":{"S":"user"},"createdAt":{"S":"2026-01-31T08:15:30.123Z"},"chunks":{"N":"1"},"body":{"B":"AHsiY29udGVudCI6ImEifQ=="}}`,
		`{"createdAt":{"S":"2026-01-31T08:15:30.123Z"},"chunks":{"N":"-1"},"body":{"B":""}}`,
		`{"createdAt":{"S":"2026-01-31T08:15:30.123Z"},"chunks":{"N":"4000000000000000000"},"body":{"B":""}}`,
		`{"note":{"N":"1"},"upTo":{"S":"msg_1"}}`,
	} {
		f.Add([]byte(seed), fuzzMessage, "0")
		f.Add([]byte(seed), "", "x")
	}
	f.Fuzz(func(t *testing.T, data []byte, messageID, number string) {
		item, err := db.ItemFromJSON(data)
		if err != nil {
			return
		}
		slicetest.DecodeStored[summaryRecord](t, item)
		var a assembler
		err = a.addPart(db.MessagesOf(fuzzProject), withPartKey(item, messageID, number))
		if err == nil && len(a.messages) > 1 {
			t.Fatalf("got %d messages from one part, want at most 1", len(a.messages))
		}
		_ = a.addPart(db.MessagesOf(fuzzProject), withPartKey(item, messageID, "1"))
		if len(a.messages) > 2 {
			t.Fatalf("got %d messages from two parts, want at most 2", len(a.messages))
		}
	})
}
