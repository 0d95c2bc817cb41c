package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"devplatform/infra/platformtest"
)

// TestBrowserSignIn signs in with the platform's code host in a real browser: the consent page is usable, the cookies
// are kept on plain http and on https, and the browser ends up where it asked to go.
func TestBrowserSignIn(t *testing.T) {
	t.Parallel()
	chromium := platformtest.Required(t, "chromium")
	p := platformtest.Start(t)
	for name, base := range map[string]string{"plain": p.URL, "secure": p.HTTPS} {
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
			platformtest.Eventually(t, "the browser is back at the service", func() bool {
				address, err := chromedp.Run(ctx, chromedp.Location())
				return err == nil && address == base+"/api/auth/me"
			})
			body, err := chromedp.Run(ctx, chromedp.TextContent(`body`))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(body, `"username":"browser-`+name+`"`) {
				t.Errorf("the page shows %s", body)
			}
		})
	}
}

// browser starts a headless Chromium with a profile of its own.
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
