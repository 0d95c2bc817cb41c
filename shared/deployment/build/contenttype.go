package build

import (
	"path"
	"strings"
	"unicode/utf8"
)

// contentTypes does not depend on the machine, as package mime does.
var contentTypes = map[string]string{
	".html": "text/html", ".htm": "text/html", ".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript",
	".cjs": "text/javascript", ".jsx": "text/javascript", ".ts": "text/plain", ".tsx": "text/plain",
	".json": "application/json", ".map": "application/json", ".webmanifest": "application/manifest+json",
	".jsonld": "application/ld+json", ".geojson": "application/geo+json", ".topojson": "application/json",
	".xml": "application/xml", ".rss": "application/rss+xml", ".atom": "application/atom+xml",
	".xhtml": "application/xhtml+xml", ".txt": "text/plain", ".text": "text/plain", ".md": "text/markdown",
	".markdown": "text/markdown", ".csv": "text/csv", ".tsv": "text/tab-separated-values", ".ics": "text/calendar",
	".vtt": "text/vtt", ".srt": "text/plain", ".vcf": "text/vcard", ".yaml": "application/yaml",
	".yml":  "application/yaml",
	".toml": "application/toml", ".log": "text/plain", ".svg": "image/svg+xml", ".glsl": "text/plain",
	".wgsl": "text/plain",

	".png": "image/png", ".apng": "image/apng", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".jfif": "image/jpeg",
	".gif": "image/gif", ".webp": "image/webp", ".avif": "image/avif", ".ico": "image/x-icon", ".bmp": "image/bmp",
	".tif": "image/tiff", ".tiff": "image/tiff", ".heic": "image/heic", ".jxl": "image/jxl", ".cur": "image/x-icon",
	".woff": "font/woff", ".woff2": "font/woff2", ".ttf": "font/ttf", ".otf": "font/otf",
	".eot": "application/vnd.ms-fontobject",
	".mp4": "video/mp4", ".m4v": "video/mp4", ".webm": "video/webm", ".ogv": "video/ogg", ".mov": "video/quicktime",
	".avi": "video/x-msvideo", ".mkv": "video/x-matroska", ".mp3": "audio/mpeg", ".m4a": "audio/mp4", ".aac": "audio/aac",
	".ogg": "audio/ogg", ".oga": "audio/ogg", ".opus": "audio/ogg", ".wav": "audio/wav", ".flac": "audio/flac",
	".weba": "audio/webm", ".mid": "audio/midi", ".midi": "audio/midi", ".m3u8": "application/vnd.apple.mpegurl",
	".wasm": "application/wasm", ".pdf": "application/pdf", ".zip": "application/zip", ".gz": "application/gzip",
	".tgz": "application/gzip", ".tar": "application/x-tar", ".7z": "application/x-7z-compressed",
	".epub": "application/epub+zip",
	".rtf":  "application/rtf", ".glb": "model/gltf-binary", ".gltf": "model/gltf+json", ".obj": "model/obj",
	".stl": "model/stl",
	".doc": "application/msword", ".xls": "application/vnd.ms-excel", ".ppt": "application/vnd.ms-powerpoint",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}

// ContentType returns the content type of a file. Text has a charset.
func ContentType(name string) string {
	if name == "/.well-known/apple-app-site-association" {
		return "application/json; charset=utf-8"
	}
	t, ok := contentTypes[strings.ToLower(path.Ext(name))]
	switch {
	case !ok:
		return "application/octet-stream"
	case strings.HasPrefix(t, "text/"), strings.HasSuffix(t, "json"), strings.HasSuffix(t, "xml"), strings.HasSuffix(t,
		"yaml"):
		return t + "; charset=utf-8"
	}
	return t
}

// contentTypeOf returns the content type of a file, without a charset if the content is not valid UTF-8. Then the page
// or the browser decides.
func contentTypeOf(name string, data []byte) string {
	t := ContentType(name)
	if plain, ok := strings.CutSuffix(t, "; charset=utf-8"); ok && !utf8.Valid(data) {
		return plain
	}
	return t
}
