package file

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json"

	"pgregory.net/rapid"
)

// MaxJSON is never less than the size of the item's JSON as a part of a proxy response.
func TestMaxJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[\x00-\x1f"\\]*`))
		item := File{
			Path: text.Draw(t, "path"), Size: rapid.Int().Draw(t, "size"), Encoding: UTF8,
			SHA256: rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "sum"), Version: "01K9ZQ3V7M8T5XW2ABCDEFGHJK",
			ContentType: text.Draw(t, "type"), UpdatedBy: "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK",
		}.Item()
		item.URL = text.Draw(t, "url")
		if rapid.Bool().Draw(t, "hasContent") {
			content := text.Draw(t, "content")
			item.Content = &content
		}
		data, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		size := len(data) + bytes.Count(data, []byte(`"`)) + bytes.Count(data, []byte(`\`))
		if bound := item.MaxJSON(); size > bound {
			t.Errorf("%s has %d bytes, more than %d", data, size, bound)
		}
	})
}
