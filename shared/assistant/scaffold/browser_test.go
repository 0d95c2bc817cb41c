package scaffold

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	esbuild "github.com/evanw/esbuild/pkg/api"

	"devplatform/infra/npmtest"
	"devplatform/infra/platformtest"
	"devplatform/shared/assistant/model"
)

// browserLimit limits a test in a browser, which starts slowly on a busy machine.
const browserLimit = 3 * time.Minute

// ask returns the files that a prompt creates in an empty project.
func ask(t *testing.T, f framework, prompt string) []file {
	t.Helper()
	facts := model.Facts{Prompt: prompt, Framework: string(f)}
	requests, err := understand(facts)
	if err != nil {
		t.Fatalf("%q in a project of %s: %v", prompt, f, err)
	}
	files, err := filesOf(requests[0], facts)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func writeFiles(t *testing.T, folder string, files []file) {
	t.Helper()
	for _, f := range files {
		name := filepath.Join(folder, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(f.content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// browser is a Chromium that records errors and warnings of pages.
type browser struct {
	t   *testing.T
	ctx context.Context
	// server serves folder. received contains the bodies of POST requests.
	server   *httptest.Server
	folder   string
	mu       sync.Mutex
	problems []string
	received []string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	chromium := platformtest.Required(t, "chromium")
	b := &browser{t: t, folder: t.TempDir()}
	files := http.FileServer(http.Dir(b.folder))
	b.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			files.ServeHTTP(w, r)
			return
		}
		var body strings.Builder
		_ = r.Write(&body)
		b.record("", body.String())
	}))
	t.Cleanup(b.server.Close)
	ctx, cancel := context.WithTimeout(context.Background(), browserLimit)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))...)
	t.Cleanup(cancel)
	b.ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Listen(b.ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browser) record(problem, received string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if problem != "" {
		b.problems = append(b.problems, problem)
	} else {
		b.received = append(b.received, received)
	}
}

func (b *browser) listen(event any) {
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError && !strings.HasSuffix(e.Entry.URL, "/favicon.ico") {
			b.record(e.Entry.Text+" "+e.Entry.URL, "")
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			b.record(fmt.Sprint("console: ", e.Args), "")
		}
	case *runtime.EventExceptionThrown:
		b.record(fmt.Sprint(e.ExceptionDetails.Text, " ", e.ExceptionDetails.Exception), "")
	}
}

func (b *browser) open(path string) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.Navigate(b.server.URL+path)); err != nil {
		b.t.Fatal(err)
	}
}

// want waits until the result of a script is want. An exception is also a result.
func (b *browser) want(script, want string) {
	b.t.Helper()
	wrapped := "(() => { try { return String(" + script + ") } catch (e) { return String(e) } })()"
	var got string
	for range 100 {
		var err error
		if got, err = chromedp.Run(b.ctx, chromedp.Evaluate[string](wrapped)); err != nil {
			b.t.Fatalf("%s: %v", script, err)
		}
		if got == want {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.t.Errorf("%s: got %q, want %q", script, got, want)
}

// do runs a script.
func (b *browser) do(script string) { b.want("(() => {"+script+"; return 1})()", "1") }

// fill types a text into a control, in a way that React notices.
func (b *browser) fill(selector, text string) {
	b.t.Helper()
	b.do(fmt.Sprintf(`const e = document.querySelector(%q);
		Object.getOwnPropertyDescriptor(Object.getPrototypeOf(e), "value").set.call(e, %q);
		e.dispatchEvent(new Event("input", {bubbles: true}))`, selector, text))
}

func (b *browser) click(selector string) {
	b.t.Helper()
	b.do(fmt.Sprintf(`document.querySelector(%q).click()`, selector))
}

// checkProblems checks that the pages had no errors.
func (b *browser) checkProblems() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		b.t.Error(p)
	}
}

// bundle bundles an entry with React from npm, as a build of the project does.
func bundle(t *testing.T, folder, entry, out string) {
	t.Helper()
	modules := npmtest.Need(t, os.DirFS("testdata/npm"))
	result := esbuild.Build(esbuild.BuildOptions{
		EntryPoints: []string{filepath.Join(folder, entry)}, Outfile: filepath.Join(folder, out), Bundle: true, Write: true,
		JSX: esbuild.JSXAutomatic, NodePaths: []string{filepath.Join(modules, "node_modules")},
		Define: map[string]string{"process.env.NODE_ENV": `"development"`}, Format: esbuild.FormatESModule,
		LogLevel: esbuild.LogLevelSilent,
	})
	for _, m := range append(result.Errors, result.Warnings...) {
		t.Fatal(m.Text, m.Location)
	}
}

// tryTasks uses the starter: it adds, completes, filters and deletes tasks, and loads the page again.
func (b *browser) tryTasks() {
	b.t.Helper()
	count, shown := `document.querySelector(".count").textContent`, `document.querySelectorAll(".task").length`
	for _, text := range []string{"Bake bread", "<b>Sell</b> it"} {
		b.fill(".add input", text)
		b.click(".add button")
	}
	b.want(count, "2 open of 2")
	b.want(`document.querySelectorAll(".task span")[1].textContent`, "<b>Sell</b> it")
	b.click(".task input")
	b.want(count, "1 open of 2")
	b.click(".filters button:nth-child(2)")
	b.want(shown, "1")
	b.click(".filters button:nth-child(3)")
	b.want(`document.querySelector(".task").className`, "task done")
	if err := chromedp.Do(b.ctx, chromedp.Reload()); err != nil {
		b.t.Fatal(err)
	}
	b.want(count, "1 open of 2")
	b.click(".task button")
	b.want(count, "1 open of 1")
}

// tryForm sends the form on the page without an e-mail address, with one that is not valid, and with a valid one.
func (b *browser) tryForm() {
	b.t.Helper()
	problem := `[...document.querySelectorAll("[role=alert]")].filter((e) => e.textContent).length`
	b.click("form button")
	b.want(problem, "2")
	b.fill("[name=email]", "ada")
	b.fill("[name=message]", "Hello")
	b.click("form button")
	b.want(problem, "1")
	b.fill("[name=email]", "ada@example.com")
	b.click("form button")
	b.want(`document.querySelector("[role=status]").textContent`, "Thank you.")
	b.mu.Lock()
	defer b.mu.Unlock()
	want := `{"email":"ada@example.com","message":"Hello","phone":"","remember":true}`
	if len(b.received) != 1 || !strings.HasSuffix(b.received[0], want) {
		b.t.Errorf("received %q, want one request with %s", b.received, want)
	}
}

const formPrompt = "a contact form with fields email, message, optional phone and remember (checkbox)"

// browserPrompts are prompts for all pieces that run in a browser.
var browserPrompts = []string{
	formPrompt, "a login form", "a signup form", "a newsletter form", "a feedback form", "a todo list", "a shopping list",
	"a table of products with name, price, in stock, created, website and phone",
	"a list of books with title, year and available", "a page called About Us", "a component called PriceTag", "a button",
	"a card", "a counter", "a modal", "a form called Field with name and email", `a todo list called "JSON"`,
	"a table of classes with columns id, class (text), new (number)",
}

func TestStaticRuns(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	writeFiles(t, b.folder, ask(t, static, "create a starter"))
	b.open("/")
	b.tryTasks()
	for _, prompt := range browserPrompts {
		files := ask(t, static, prompt)
		writeFiles(t, b.folder, files)
		b.open(files[0].path)
		b.want(`document.title !== "" && document.body.textContent.trim() !== ""`, "true")
		switch prompt {
		case formPrompt:
			b.do(`document.querySelector("form").dataset.url = "/"; document.querySelector("[name=remember]").checked = true`)
			b.tryForm()
		case "a todo list":
			b.fill("[name=text]", "Bake")
			b.click("form button")
			b.want(`document.querySelector("li span").textContent`, "Bake")
			b.click("li input")
			b.open(files[0].path)
			b.want(`document.querySelector("li input").checked`, "true")
			b.click("li button")
			b.want(`document.querySelectorAll("li").length`, "0")
		case "a counter":
			b.click("button:last-of-type")
			b.want(`document.querySelector("output").textContent`, "1")
		case "a modal":
			b.click("#open")
			b.want(`document.querySelector("dialog").open`, "true")
		}
	}
	b.open("/product-table.html")
	b.want(`document.querySelector("tbody tr").textContent`,
		"Name 110Yes2026-01-15https://example.com/1+1 555 0101")
	b.checkProblems()
}

func TestStarterForReactRuns(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	writeFiles(t, b.folder, ask(t, react, "create a starter"))
	bundle(t, b.folder, "src/main.jsx", "src/out.js")
	page, err := os.ReadFile(filepath.Join(b.folder, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	// A build replaces the entry by its output.
	styles := `<link rel="stylesheet" href="/src/out.css"></head>`
	built := strings.NewReplacer("/src/main.jsx", "/src/out.js", "</head>", styles)
	writeFiles(t, b.folder, []file{{"/index.html", built.Replace(string(page))}})
	b.open("/")
	b.tryTasks()
	b.want(`getComputedStyle(document.querySelector(".add")).display`, "flex")
	b.checkProblems()
}

// showPieces bundles a page that shows one of the pieces of a framework, or all of them. It returns the paths.
func (b *browser) showPieces(f framework) (all string, each map[string]string) {
	b.t.Helper()
	each = map[string]string{}
	var entry strings.Builder
	entry.WriteString(`import { createRoot } from "react-dom/client"` + "\n")
	for i, prompt := range browserPrompts {
		files := ask(b.t, f, prompt)
		writeFiles(b.t, filepath.Join(b.folder, fmt.Sprint(f, i)), files)
		fmt.Fprintf(&entry, "import P%d from \"./%s%d%s\"\n", i, f, i, files[0].path)
		each[prompt] = fmt.Sprintf("/%s.html?%d", f, i)
	}
	entry.WriteString("const pieces = [")
	for i := range browserPrompts {
		fmt.Fprintf(&entry, "P%d, ", i)
	}
	entry.WriteString(`]
		const send = (values) => fetch("/", { method: "POST", body: JSON.stringify(values) })
		const shown = location.search ? [pieces[Number(location.search.slice(1))]] : pieces
		createRoot(document.getElementById("root")).render(shown.map((Piece, i) => <Piece key={i} onSubmit={send} />))`)
	page := fmt.Sprintf(`<!doctype html><link rel="icon" href="data:,">
		<div id="root"></div><script type="module" src="/%s.js"></script>`, f)
	writeFiles(b.t, b.folder, []file{
		{fmt.Sprintf("/%s.jsx", f), entry.String()}, {fmt.Sprintf("/%s.html", f), page},
	})
	bundle(b.t, b.folder, string(f)+".jsx", string(f)+".js")
	return fmt.Sprintf("/%s.html", f), each
}

func TestPiecesForReactRun(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	all, pages := b.showPieces(react)
	b.open(pages[formPrompt])
	b.click("[name=remember]")
	b.tryForm()
	todo := pages["a todo list"]
	b.open(todo)
	b.fill("[name=text]", "Bake")
	b.click("form button")
	b.click("li input")
	b.want(`JSON.parse(localStorage["todo-list"])[0].done`, "true")
	b.open("/")
	b.open(todo)
	b.want(`document.querySelector("li input").checked`, "true")
	b.click("li button")
	b.want(`document.querySelectorAll("li").length`, "0")
	b.open(pages["a counter"])
	b.click("button:last-of-type")
	b.want(`document.querySelector("output").textContent`, "1")
	b.open(pages["a modal"])
	b.click("button")
	b.want(`document.querySelector("dialog").open`, "true")
	const visible = `[...document.querySelectorAll("#root > *")].filter((e) => e.textContent).length`
	b.open(all)
	b.want(visible, fmt.Sprint(len(browserPrompts)+1)) // the modal has two elements
	b.want(`document.querySelector("tbody tr").textContent`,
		"Name 110Yes2026-01-15https://example.com/1+1 555 0101")
	all, _ = b.showPieces(next)
	b.open(all)
	b.want(visible, fmt.Sprint(len(browserPrompts)+1))
	b.checkProblems()
}
