package contenttype_test

import (
	"mime"
	"testing"

	"devplatform/shared/contenttype"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, ifText, ifBinary string }{
		{"/index.html", "text/html; charset=utf-8", "text/html"},
		{"/INDEX.HTML", "text/html; charset=utf-8", "text/html"},
		{"/a.css", "text/css; charset=utf-8", "text/css"},
		{"/a.mjs", "text/javascript; charset=utf-8", "text/javascript"},
		{"/a.md", "text/markdown; charset=utf-8", "text/markdown"},
		{"/a.vtt", "text/vtt; charset=utf-8", "text/vtt"},
		{"/src/app.ts", "text/typescript; charset=utf-8", "video/mp2t"},
		{"/videos/segment0.TS", "text/typescript; charset=utf-8", "video/mp2t"},
		{"/src/app.mts", "text/typescript; charset=utf-8", "video/mp2t"},
		{"/src/app.cts", "text/typescript; charset=utf-8", "text/typescript"},
		{"/src/app.tsx", "text/tsx; charset=utf-8", "text/tsx"},
		{"/package.json", "application/json", "application/json"},
		{"/assets/app.js.map", "application/json", "application/json"},
		{"/app.webmanifest", "application/manifest+json", "application/manifest+json"},
		{"/feed.xml", "application/xml", "application/xml"},
		{"/a.svg", "image/svg+xml", "image/svg+xml"},
		{"/a.wasm", "application/wasm", "application/wasm"},
		{"/a.avif", "image/avif", "image/avif"},
		{"/a.woff2", "font/woff2", "font/woff2"},
		{"/a.m3u8", "application/vnd.apple.mpegurl", "application/vnd.apple.mpegurl"},
		{"/a.tar.gz", "application/gzip", "application/gzip"},
		{"/.json", "application/json", "application/json"},
		{"/.well-known/apple-app-site-association", "application/json", "application/json"},
		{"/Makefile", "text/plain; charset=utf-8", "application/octet-stream"},
		{"/v1.js/README", "text/plain; charset=utf-8", "application/octet-stream"},
		{"/data.unknown", "text/plain; charset=utf-8", "application/octet-stream"},
		{"/data.", "text/plain; charset=utf-8", "application/octet-stream"},
	} {
		if got := contenttype.Of(tc.name, true); got != tc.ifText {
			t.Errorf("Of(%q, true) = %q, want %q", tc.name, got, tc.ifText)
		}
		if got := contenttype.Of(tc.name, false); got != tc.ifBinary {
			t.Errorf("Of(%q, false) = %q, want %q", tc.name, got, tc.ifBinary)
		}
		if _, _, err := mime.ParseMediaType(tc.ifText); err != nil {
			t.Errorf("%s: %v", tc.ifText, err)
		}
	}
}
