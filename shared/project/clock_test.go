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
			w := newWorld(t)
			ada := w.user("ada")
			at := projectURL(ada.project("", "App", Private)) + "/files"
			jump := func(by time.Duration) { // simulates a process with another clock
				w.clock.Advance(by)
				w.ids = id.NewGenerator(w.clock.Now, rand.Reader)
				w.interpose(nil)
			}
			save := func(content string) string {
				a := ada.Do(http.MethodPost, at, object{"path": "/a.ts", "content": content})
				if a.Status != http.StatusOK && a.Status != http.StatusCreated {
					t.Fatalf("%s: %s", content, a.Raw)
				}
				return a.Text("version")
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
				if a := ada.Get(fmt.Sprint(at, "?path=/a.ts&version=", want[i])).Want(t, http.StatusOK); a.Text("content") != content {
					t.Errorf("version %d reads %s", i+1, a.Raw)
				}
			}
		})
	}
}
