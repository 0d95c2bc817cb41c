package site

import (
	"fmt"
	"html"
	"net/http"
)

// pages are the server's own pages, by status. Each is complete, and needs no other resource. The page for 404 does not
// say whether the address or only the path is unknown, so that an unknown, an offline and a deleted site look the same.
var pages = map[int][]byte{
	http.StatusNotFound: htmlPage("Page not found",
		"There is no page at this address. Check the address for typing errors."),
	http.StatusMethodNotAllowed: htmlPage("Method not allowed",
		"This site only serves pages and files. Use GET or HEAD."),
	http.StatusRequestURITooLong: htmlPage("Address too long",
		"The address is too long. Check the part after the question mark."),
	http.StatusTooManyRequests: htmlPage("Traffic limit reached",
		"The sites of this account have reached their traffic limit for this month. "+
			"The site is available again when the next month begins."),
	http.StatusUnavailableForLegalReasons: htmlPage("Site blocked",
		"This site is not available, because it was blocked."),
	http.StatusInternalServerError: htmlPage("Something went wrong",
		"The page could not be shown because of an error on our side. Please try again later."),
	http.StatusServiceUnavailable: htmlPage("Temporarily unavailable",
		"The site cannot be shown at the moment. Please try again in a few seconds."),
}

// htmlPage returns an HTML page. Its colors follow the browser's light or dark mode.
func htmlPage(title, text string) []byte {
	return fmt.Appendf(nil, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%[1]s</title>
<style>
:root { color-scheme: light dark; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; font: 1rem/1.6 system-ui, sans-serif; }
main { max-width: 28rem; padding: 2rem; }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0; opacity: .75; }
</style>
</head>
<body>
<main>
<h1>%[1]s</h1>
<p>%[2]s</p>
</main>
</body>
</html>
`, html.EscapeString(title), html.EscapeString(text))
}
