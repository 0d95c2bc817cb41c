package file_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"devplatform/infra/projecttest"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

// The history of a file is in the order of the writes, even if the clock of an earlier writer was ahead.
func TestHistoryOrderWithClockSkew(t *testing.T) {
	t.Parallel()
	for _, skew := range []time.Duration{time.Second, time.Hour, 40 * 24 * time.Hour} {
		t.Run(skew.String(), func(t *testing.T) {
			t.Parallel()
			f := projecttest.New(t)
			ada := f.NewUser("ada")
			filesURL := projecttest.URL(ada.Project("", "App", workspace.Private)) + "/files"
			switchServer := func(difference time.Duration) { // to a server whose clock has this difference
				f.Clock.Advance(difference)
				f.IDs = id.NewGenerator(f.Clock.Now, rand.Reader)
				f.UseProxy(nil)
			}
			save := func(content string) string {
				r := ada.Do(http.MethodPost, filesURL, object{"path": "/a.ts", "content": content})
				if r.Status != http.StatusOK && r.Status != http.StatusCreated {
					t.Fatalf("saving %q: got %d %s, want success", content, r.Status, r.Raw)
				}
				return r.Text("version")
			}
			switchServer(skew)
			want := []any{save("first"), save("second")}
			switchServer(-skew)
			want = append(want, save("third"), save("fourth"))
			history := ada.Get(filesURL+"/history?path="+url.QueryEscape("/a.ts")).Want(t, http.StatusOK)
			got := history.Values("versions", "version")
			slices.Reverse(got)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got the versions %v, oldest first, want %v", got, want)
			}
			for i, content := range []string{"first", "second", "third", "fourth"} {
				r := ada.Get(fmt.Sprint(filesURL, "?path=/a.ts&version=", want[i])).Want(t, http.StatusOK)
				if r.Text("content") != content {
					t.Errorf("version %d: got %s, want the content %q", i+1, r.Raw, content)
				}
			}
		})
	}
}
