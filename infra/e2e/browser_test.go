package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"devplatform/infra/platformtest"
)

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
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("ignore-certificate-errors", true),
		chromedp.Flag("disable-quic", true),
	)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}
