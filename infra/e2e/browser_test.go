package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"devplatform/infra/platformtest"
)

// browserLimit limits a test in a browser, which starts slowly on a busy machine.
const browserLimit = 3 * time.Minute

// TestBrowserSignIn signs in with the platform's code host in Chromium, over http and https. The browser submits the
// consent page, keeps the cookies, and is redirected to the requested page.
func TestBrowserSignIn(t *testing.T) {
	t.Parallel()
	chromium := platformtest.Required(t, "chromium")
	p := platformtest.Start(t)
	for name, base := range map[string]string{"http": p.URL, "https": p.HTTPS} {
		t.Run(name, func(t *testing.T) {
			ctx := browser(t, chromium)
			if err := chromedp.Do(ctx,
				chromedp.Navigate(base+"/api/auth/codehost?redirect=/api/auth/me"),
				chromedp.WaitVisible(`input[name=login]`),
				chromedp.SetValue(`input[name=login]`, "browser-"+name),
				chromedp.SetValue(`input[name=email]`, "browser-"+name+"@example.com"),
				chromedp.Click(`form:last-of-type button[value=authorize]`),
			); err != nil {
				t.Fatal(err)
			}
			platformtest.Eventually(t, "the browser is redirected to the service", func() bool {
				address, err := chromedp.Run(ctx, chromedp.Location())
				return err == nil && address == base+"/api/auth/me"
			})
			body, err := chromedp.Run(ctx, chromedp.TextContent(`body`))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(body, `"username":"browser-`+name+`"`) {
				t.Errorf("got page %s, want the username browser-%s", body, name)
			}
		})
	}
}

// browser starts a headless Chromium with a new profile.
func browser(t *testing.T, path string) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 800),
		chromedp.Flag("ignore-certificate-errors", true),
		chromedp.Flag("disable-quic", true),
	)
	ctx, cancel := context.WithTimeout(context.Background(), browserLimit)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// console records errors and warnings of a page, including violations of its security policy.
type console struct {
	mu       sync.Mutex
	problems []string
}

// record records an event of the browser if it is a problem.
func (c *console) record(event any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Source == log.EntrySourceRendering { // about the graphics card
			return
		}
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			c.problems = append(c.problems, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			for _, arg := range e.Args {
				c.problems = append(c.problems, fmt.Sprintf("console: %s %s", arg.Value, arg.Description))
			}
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		c.problems = append(c.problems, text)
	}
}
