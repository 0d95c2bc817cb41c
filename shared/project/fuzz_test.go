package project

import (
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
)

// FuzzSlug checks that every name has a valid slug, and that the slug of a slug is the same slug.
func FuzzSlug(f *testing.F) {
	for _, seed := range []string{"Café Déjà", "Ada’s App", "项目 App 2", "", "\xff", "ǅ", "ﷺ", "K", "İi", "--a--"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		slug := slugOf(name)
		if !slugPattern.MatchString(slug) || len(slug) > maxSlugBase || slugOf(slug) != slug {
			t.Fatalf("slugOf(%q) = %q, which is not a valid slug, or slugOf changes it again", name, slug)
		}
		if db.SlugKey("ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK", slug).IsZero() {
			t.Fatalf("slugOf(%q) = %q, which is not valid in a key", name, slug)
		}
	})
}

// FuzzStored decodes arbitrary items. An item must fail to decode, or decode to a record that stays the same when it is
// encoded and decoded again.
func FuzzStored(f *testing.F) {
	for _, seed := range []string{
		`{"id":{"S":"prj_1"},"visibility":{"S":"public"},"createdAt":{"S":"2026-01-31T08:15:30.123Z"},"revision":{"N":"3"}}`,
		`{"path":{"S":"/a"},"line":{"N":"0"}}`,
		`{"projectId":{"S":""},"revision":{"N":"1.5"}}`,
		`{"path":{"NULL":true},"createdAt":{"S":""}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		item, err := db.ItemFromJSON(data)
		if err != nil {
			return
		}
		slicetest.DecodeStored[projectRecord](t, item)
		slicetest.DecodeStored[slugRecord](t, item)
		slicetest.DecodeStored[commentRecord](t, item)
	})
}
