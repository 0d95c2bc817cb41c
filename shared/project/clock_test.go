package project

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"devplatform/shared/id"
)

// The history of a file is in the order of the writes, even if the clock of an earlier writer was ahead.
func TestHistoryOrderWithClockSkew(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{time.Second, time.Hour, 40 * 24 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ada := f.newUser("ada")
			at := projectURL(ada.project("", "App", Private)) + "/files"
			jump := func(by time.Duration) { // simulates a process with another clock
				f.clock.Advance(by)
				f.ids = id.NewGenerator(f.clock.Now, rand.Reader)
				f.useProxy(nil)
			}
			save := func(content string) string {
				r := ada.Do(http.MethodPost, at, object{"path": "/a.ts", "content": content})
				if r.Status != http.StatusOK && r.Status != http.StatusCreated {
					t.Fatalf("%s: %s", content, r.Raw)
				}
				return r.Text("version")
			}
			jump(by)
			want := []any{save("first"), save("second")}
			jump(-by)
			want = append(want, save("third"), save("fourth"))
			var got []any
			for _, v := range ada.Get(at+"/history?path="+url.QueryEscape("/a.ts")).Want(t, http.StatusOK).List("versions") {
				got = append([]any{v["version"]}, got...)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("versions, oldest first: %v, want %v", got, want)
			}
			for i, content := range []string{"first", "second", "third", "fourth"} {
				if r := ada.Get(fmt.Sprint(at, "?path=/a.ts&version=", want[i])).Want(t, http.StatusOK); r.Text("content") != content {
					t.Errorf("version %d reads %s", i+1, r.Raw)
				}
			}
		})
	}
}
