package path

import "strings"

// Content types of paths with an unknown extension.
const (
	plainText  = "text/plain; charset=utf-8"
	binaryData = "application/octet-stream"
)

// contentTypes maps file extensions to media types: the type that IANA registered, or a type in common use if IANA has
// none. The extensions .ts and .mts mean TypeScript, not video.
var contentTypes = map[string]string{
	"html":        "text/html; charset=utf-8",
	"htm":         "text/html; charset=utf-8",
	"xhtml":       "application/xhtml+xml",
	"css":         "text/css; charset=utf-8",
	"scss":        "text/x-scss; charset=utf-8",
	"sass":        "text/x-sass; charset=utf-8",
	"less":        "text/x-less; charset=utf-8",
	"js":          "text/javascript; charset=utf-8",
	"mjs":         "text/javascript; charset=utf-8",
	"cjs":         "text/javascript; charset=utf-8",
	"jsx":         "text/jsx; charset=utf-8",
	"ts":          "text/typescript; charset=utf-8",
	"mts":         "text/typescript; charset=utf-8",
	"cts":         "text/typescript; charset=utf-8",
	"tsx":         "text/tsx; charset=utf-8",
	"vue":         "text/x-vue; charset=utf-8",
	"svelte":      "text/x-svelte; charset=utf-8",
	"astro":       "text/x-astro; charset=utf-8",
	"json":        "application/json",
	"map":         "application/json",
	"jsonc":       "application/json",
	"webmanifest": "application/manifest+json",
	"xml":         "application/xml",
	"yaml":        "application/yaml",
	"yml":         "application/yaml",
	"toml":        "application/toml",
	"md":          "text/markdown; charset=utf-8",
	"markdown":    "text/markdown; charset=utf-8",
	"mdx":         "text/mdx; charset=utf-8",
	"txt":         plainText,
	"log":         plainText,
	"csv":         "text/csv; charset=utf-8",
	"graphql":     "application/graphql",
	"gql":         "application/graphql",
	"sql":         "application/sql",
	"sh":          "application/x-sh",
	"go":          "text/x-go; charset=utf-8",
	"mod":         plainText,
	"sum":         plainText,
	"py":          "text/x-python; charset=utf-8",
	"rb":          "text/x-ruby; charset=utf-8",
	"rs":          "text/x-rust; charset=utf-8",
	"java":        "text/x-java; charset=utf-8",
	"kt":          "text/x-kotlin; charset=utf-8",
	"php":         "application/x-httpd-php",
	"c":           "text/x-c; charset=utf-8",
	"h":           "text/x-c; charset=utf-8",
	"cpp":         "text/x-c++; charset=utf-8",
	"svg":         "image/svg+xml",
	"png":         "image/png",
	"jpg":         "image/jpeg",
	"jpeg":        "image/jpeg",
	"gif":         "image/gif",
	"webp":        "image/webp",
	"avif":        "image/avif",
	"ico":         "image/vnd.microsoft.icon",
	"bmp":         "image/bmp",
	"woff":        "font/woff",
	"woff2":       "font/woff2",
	"ttf":         "font/ttf",
	"otf":         "font/otf",
	"eot":         "application/vnd.ms-fontobject",
	"mp3":         "audio/mpeg",
	"wav":         "audio/wav",
	"ogg":         "audio/ogg",
	"mp4":         "video/mp4",
	"webm":        "video/webm",
	"pdf":         "application/pdf",
	"zip":         "application/zip",
	"gz":          "application/gzip",
	"tar":         "application/x-tar",
	"wasm":        "application/wasm",
}

// ContentType returns the media type for a path's extension, ignoring case. For an unknown extension it returns
// text/plain if isText is true, and application/octet-stream otherwise.
func ContentType(path string, isText bool) string {
	name := path[strings.LastIndex(path, separator)+1:]
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		if known, ok := contentTypes[strings.ToLower(name[dot+1:])]; ok {
			return known
		}
	}
	if isText {
		return plainText
	}
	return binaryData
}
