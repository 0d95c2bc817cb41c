package e2e

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/chromedp/chromedp"

	"devplatform/infra/platformtest"
	"devplatform/infra/testmode"
)

const (
	corpus = platformtest.Root + "/infra/corpus"
	// starters has the folders of the projects of the corpus with which the built-in generator fills projects.
	starters = platformtest.Root + "/shared/assistant/scaffold/starters"
)

// corpusOfChange are the projects of the corpus that are deployed for each change. They differ as much as possible.
var corpusOfChange = []string{
	"cra", "landing", "odd-vite-imports", "svelte-runes", "todo", "vue-router",
}

// expectations are what a project of the corpus shows (infra/corpus/README.md).
type expectations struct {
	RootDir  string `json:"rootDir"`
	Page     string `json:"page"`
	Elements []struct {
		Selector string `json:"selector"`
		Text     string `json:"text"`
	} `json:"elements"`
	Styled struct {
		Selector string `json:"selector"`
		Property string `json:"property"`
		Value    string `json:"value"`
	} `json:"styled"`
}

// TestCorpus deploys projects of the corpus, and opens each in Chromium: there is no exception and no failed request,
// the main elements are visible, and the styles are applied. In its full form, it deploys all of them.
func TestCorpus(t *testing.T) {
	t.Parallel()
	if testmode.HasRaceDetector {
		t.Skip("bundling takes too long with the race detector")
	}
	chromium := platformtest.Required(t, "chromium")
	platformtest.Required(t, "npm") // names the registry
	p := platformtest.Start(t, "NPM_ALLOW_PRIVATE=true")
	all, err := filepath.Glob(corpus + "/*.json")
	must(t, err)
	for _, file := range all {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if !testmode.IsNightly() && !slices.Contains(corpusOfChange, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var want expectations
			data, err := os.ReadFile(file)
			must(t, err)
			must(t, json.Unmarshal(data, &want))
			ada := platformtest.NewClient(t, p.URL)
			ada.SignUp("ada-" + name)
			d := newDeployer(ada, ada.NewProject(name, nil))
			if want.RootDir != "" {
				fields := platformtest.Object{"rootDir": want.RootDir}
				ada.Do("PUT", "/api/projects/"+d.project, fields.String()).Want(t, http.StatusOK)
			}
			folder := filepath.Join(starters, name)
			if _, err := os.Stat(folder); err != nil {
				folder = filepath.Join(corpus, name)
			}
			d.saveFolder(folder)
			t.Logf("ready after %v ms", d.deployReady(nil)["durationMs"])
			want.check(t, chromium, strings.TrimSuffix(d.siteURL(), "/")+want.Page)
		})
	}
}

// saveFolder saves the files of a folder in the project.
func (d *deployer) saveFolder(folder string) {
	d.T.Helper()
	var operations []platformtest.Object
	must(d.T, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || !utf8.Valid(data) {
			return fmt.Errorf("read %s: not a text, or %w", path, err)
		}
		operations = append(operations, platformtest.Object{
			"op": "create", "path": strings.TrimPrefix(path, folder), "content": string(data),
		})
		return nil
	}))
	for batch := range slices.Chunk(operations, 20) {
		body := platformtest.Object{"operations": batch}
		d.Do("POST", "/api/projects/"+d.project+"/files/batch", body.String()).Want(d.T, http.StatusOK)
	}
}

// check opens a page, and fails the test if it does not show what is expected.
func (want expectations) check(t *testing.T, chromium, address string) {
	t.Helper()
	ctx := browser(t, chromium)
	page := &console{}
	must(t, chromedp.Listen(ctx, page.record))
	must(t, chromedp.Do(ctx, chromedp.Navigate(address)))
	data, err := json.Marshal(want)
	must(t, err)
	script := fmt.Sprintf(`(() => {
		const want = %s;
		const missing = want.elements.filter(({ selector, text }) => ![...document.querySelectorAll(selector)].some(
			(e) => e.checkVisibility() && e.textContent.includes(text)));
		const { selector, property, value } = want.styled;
		const e = document.querySelector(selector);
		const got = e && getComputedStyle(e).getPropertyValue(property);
		return [...missing.map((m) => "no element " + JSON.stringify(m)),
			...(got === value ? [] : [selector + " has the " + property + " " + got])].join("; ");
	})()`, data)
	var missing string
	t.Cleanup(func() { t.Logf("missing: %q; console: %q", missing, page.problems) })
	platformtest.Eventually(t, "the elements and styles of the project", func() bool {
		missing, err = chromedp.Run(ctx, chromedp.Evaluate[string](script))
		must(t, err)
		return missing == ""
	})
	page.mu.Lock()
	defer page.mu.Unlock()
	if len(page.problems) > 0 {
		t.Errorf("the console shows %q, want nothing", page.problems)
	}
}
