package project

// Visibility says who sees a project (API.md §4).
type Visibility string

// The visibilities. Private is seen by its creator and by the workspace's admins and owners, Team by the workspace;
// Public is read by every signed-in user, files included.
const (
	Private Visibility = "private"
	Team    Visibility = "team"
	Public  Visibility = "public"
)

// Encoding is how a content travels in JSON.
type Encoding string

// The encodings.
const (
	UTF8   Encoding = "utf-8"
	Base64 Encoding = "base64"
)
