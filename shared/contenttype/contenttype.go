// Package contenttype maps file names to media types, for the records of project files and for the responses of sites.
// The result depends only on the name, and on whether the content is text. Package mime also depends on the machine.
package contenttype

import (
	"path"
	"strings"
)

const (
	charset    = "; charset=utf-8"
	plainText  = "text/plain"
	binaryData = "application/octet-stream"
	transport  = "video/mp2t"
	jsonData   = "application/json"
)

// types maps file extensions to media types without a charset: the type that IANA registered, or a type in common use
// if IANA has none.
var types = map[string]string{
	// Web pages and their sources.
	"html": "text/html", "htm": "text/html", "xhtml": "application/xhtml+xml", "css": "text/css",
	"scss": "text/x-scss", "sass": "text/x-sass", "less": "text/x-less",
	"js": "text/javascript", "mjs": "text/javascript", "cjs": "text/javascript", "jsx": "text/jsx",
	"ts": "text/typescript", "mts": "text/typescript", "cts": "text/typescript", "tsx": "text/tsx",
	"vue": "text/x-vue", "svelte": "text/x-svelte", "astro": "text/x-astro",
	"glsl": plainText, "wgsl": "text/wgsl", "wasm": "application/wasm",

	// Data.
	"json": jsonData, "map": jsonData, "jsonc": jsonData, "topojson": jsonData, "webmanifest": "application/manifest+json",
	"jsonld": "application/ld+json", "geojson": "application/geo+json", "ndjson": "application/x-ndjson",
	"xml": "application/xml", "xsl": "application/xslt+xml", "rss": "application/rss+xml",
	"atom": "application/atom+xml", "yaml": "application/yaml", "yml": "application/yaml", "toml": "application/toml",
	"csv": "text/csv", "tsv": "text/tab-separated-values", "ics": "text/calendar", "vcf": "text/vcard",
	"graphql": "application/graphql", "gql": "application/graphql", "sql": "application/sql",
	"sqlite": "application/vnd.sqlite3",

	// Text.
	"md": "text/markdown", "markdown": "text/markdown", "mdx": "text/mdx", "txt": plainText, "text": plainText,
	"log": plainText, "srt": plainText, "vtt": "text/vtt",

	// Sources of other languages.
	"sh": "application/x-sh", "go": "text/x-go", "mod": plainText, "sum": plainText, "py": "text/x-python",
	"rb": "text/x-ruby", "rs": "text/x-rust", "java": "text/x-java", "kt": "text/x-kotlin",
	"php": "application/x-httpd-php", "c": "text/x-c", "h": "text/x-c", "cpp": "text/x-c++",

	// Images and fonts.
	"svg": "image/svg+xml", "png": "image/png", "apng": "image/apng", "jpg": "image/jpeg", "jpeg": "image/jpeg",
	"jfif": "image/jpeg", "gif": "image/gif", "webp": "image/webp", "avif": "image/avif",
	"ico": "image/vnd.microsoft.icon", "cur": "image/vnd.microsoft.icon", "bmp": "image/bmp", "tif": "image/tiff",
	"tiff": "image/tiff", "heic": "image/heic", "heif": "image/heif", "jxl": "image/jxl",
	"woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf", "ttc": "font/collection",
	"eot": "application/vnd.ms-fontobject",

	// Audio and video.
	"mp3": "audio/mpeg", "m4a": "audio/mp4", "aac": "audio/aac", "ogg": "audio/ogg", "oga": "audio/ogg",
	"opus": "audio/ogg", "wav": "audio/wav", "flac": "audio/flac", "weba": "audio/webm", "mid": "audio/midi",
	"midi": "audio/midi", "m3u8": "application/vnd.apple.mpegurl", "mpd": "application/dash+xml",
	"mp4": "video/mp4", "m4v": "video/mp4", "m4s": "video/iso.segment", "webm": "video/webm", "ogv": "video/ogg",
	"mov": "video/quicktime", "avi": "video/x-msvideo", "mkv": "video/matroska", "m2ts": transport,

	// Documents, archives and models.
	"pdf": "application/pdf", "rtf": "application/rtf", "epub": "application/epub+zip", "zip": "application/zip",
	"gz": "application/gzip", "tgz": "application/gzip", "tar": "application/x-tar",
	"7z": "application/x-7z-compressed", "glb": "model/gltf-binary", "gltf": "model/gltf+json", "obj": "model/obj",
	"stl": "model/stl", "doc": "application/msword", "xls": "application/vnd.ms-excel",
	"ppt":  "application/vnd.ms-powerpoint",
	"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}

// binaryTypes maps the extensions that mean another format if the content is not text. A file a.ts is TypeScript or a
// segment of a video.
var binaryTypes = map[string]string{"ts": transport, "mts": transport}

// Of returns the media type of a file, by the extension of its name, ignoring case. isText reports whether the content
// is valid UTF-8. If it is, a file with an unknown extension is plain text, and types that begin with text/ have a
// charset. Other types have no charset: JSON and XML define their own encoding.
func Of(name string, isText bool) string {
	base := path.Base(name)
	extension := strings.ToLower(strings.TrimPrefix(path.Ext(base), "."))
	mediaType, isKnown := types[extension]
	binaryType, isAmbiguous := binaryTypes[extension]
	switch {
	case base == "apple-app-site-association": // which iOS accepts only as JSON, and which has no extension
		return jsonData
	case isAmbiguous && !isText:
		return binaryType
	case !isKnown && !isText:
		return binaryData
	case !isKnown:
		mediaType = plainText
	}
	if isText && strings.HasPrefix(mediaType, "text/") {
		return mediaType + charset
	}
	return mediaType
}
