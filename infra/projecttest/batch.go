package projecttest

import (
	"net/http"
	"net/url"

	"devplatform/infra/slicetest"
)

// Creation is the operation that creates a file.
func Creation(path, content string) Object {
	return Object{"op": "create", "path": path, "content": content}
}

// Update is the operation that updates a file.
func Update(path, content string) Object {
	return Object{"op": "update", "path": path, "content": content}
}

// Deletion is the operation that deletes a file.
func Deletion(path string) Object { return Object{"op": "delete", "path": path} }

// Renaming is the operation that renames a file.
func Renaming(path, to string) Object { return Object{"op": "rename", "path": path, "to": to} }

// DeleteVersion deletes an old version of a file.
func (client FilesClient) DeleteVersion(path, version string) slicetest.Response {
	client.Fixture.T.Helper()
	query := "?path=" + url.QueryEscape(path) + "&version=" + url.QueryEscape(version)
	return client.Do(http.MethodDelete, client.URL()+"/history"+query, nil)
}
