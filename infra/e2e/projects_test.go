package e2e

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/platformtest"
)

// column returns the value of a field in each object, separated by spaces.
func column(objects []map[string]any, field string) string {
	var values []string
	for _, o := range objects {
		values = append(values, fmt.Sprint(o[field]))
	}
	return strings.Join(values, " ")
}

// TestProjects creates, changes, shares and deletes a project over http and https. It checks the access of its owner,
// of a viewer, and of a user who is not a member.
func TestProjects(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	for name, base := range map[string]string{"http": p.URL, "https": p.HTTPS} {
		t.Run(name, func(t *testing.T) {
			ada, grace := platformtest.NewClient(t, base), platformtest.NewClient(t, base)
			ada.SignUp("ada" + name)
			graceID := grace.SignUp("grace" + name)
			workspace, _ := ada.Do("GET", "/api/workspaces", "").List(t, "workspaces")[0]["id"].(string)
			project := ada.NewProject("Café Déjà", platformtest.Object{"visibility": "team", "framework": "react"})
			at := "/api/projects/" + project

			ada.Save(project, "/src/app.tsx", "one").Want(t, http.StatusCreated)
			ada.Save(project, "/src/main.tsx", "two").Want(t, http.StatusCreated)
			ada.Save(project, "/README.md", "# Café").Want(t, http.StatusCreated)
			saved := ada.Save(project, "/src/app.tsx", "three")
			saved.Want(t, http.StatusOK)
			if files := ada.Do("GET", at+"/files", "").List(t, "files"); column(files, "path") != "/README.md /src/app.tsx /src/main.tsx" {
				t.Errorf("got files %v, want the three that were saved", files)
			}
			read := ada.Do("GET", at+"/files?path=/src/app.tsx", "")
			if fields := read.Want(t, http.StatusOK); fields["content"] != "three" {
				t.Errorf("got file %s, want the content three", read.Body)
			}
			if etag := read.Header.Get("ETag"); etag == "" || etag != saved.Header.Get("ETag") {
				t.Errorf("got ETag %q, want %q", etag, saved.Header.Get("ETag"))
			}
			ada.Save(project, "/src/app.tsx", "four", `If-Match: "stale"`).WantError(t, http.StatusPreconditionFailed, "PRECONDITION_FAILED")
			ada.Save(project, "/src", "a folder").WantError(t, http.StatusConflict, "CONFLICT")
			ada.Do("POST", at+"/files/batch", `{"operations":[{"op":"rename","path":"/src/app.tsx","to":"/src/App.tsx"},{"op":"delete","path":"/nothing"}]}`).
				WantError(t, http.StatusNotFound, "FILE_NOT_FOUND")
			ada.Do("POST", at+"/files/batch", `{"operations":[{"op":"rename","path":"/src/app.tsx","to":"/src/App.tsx"}]}`).Want(t, http.StatusOK)
			if versions := ada.Do("GET", at+"/files/history?path=/src/app.tsx", "").List(t, "versions"); column(versions, "current") != "false false" {
				t.Errorf("got versions %v, want two replaced ones", versions)
			}

			grace.Do("GET", at, "").WantError(t, http.StatusNotFound, "PROJECT_NOT_FOUND")
			ada.AddMember(workspace, grace, "grace"+name, "viewer")
			if seen := grace.Do("GET", "/api/projects", "").List(t, "projects"); column(seen, "slug") != "cafe-deja" {
				t.Errorf("got projects %v for a viewer, want the shared project", seen)
			}
			grace.Save(project, "/x", "x").WantError(t, http.StatusForbidden, "ACCESS_DENIED")
			ada.Do("DELETE", "/api/workspaces/"+workspace+"/members/"+graceID, "").Want(t, http.StatusOK)
			grace.Do("GET", at, "").WantError(t, http.StatusNotFound, "PROJECT_NOT_FOUND")

			ada.Do("POST", at+"/comments", `{"body":"Nice.","path":"/src/App.tsx","line":1}`).Want(t, http.StatusCreated)
			feed := ada.Do("GET", at+"/events", "").List(t, "events")
			if got, want := column(feed, "type"), "comment.created file.created file.deleted file.updated file.created file.created file.created project.created"; got != want {
				t.Errorf("got events %s, want %s", got, want)
			}

			ada.Do("DELETE", at, "").Want(t, http.StatusOK)
			for _, path := range []string{at, at + "/files", at + "/files?path=/README.md", at + "/events", at + "/comments", at + "/files/history?path=/README.md"} {
				ada.Do("GET", path, "").WantError(t, http.StatusNotFound, "PROJECT_NOT_FOUND")
			}
			ada.Save(project, "/late", "late").WantError(t, http.StatusNotFound, "PROJECT_NOT_FOUND")
			platformtest.Eventually(t, "the clean-up of the deleted project", func() bool { return countItems(t, p, project) == 0 })
		})
	}
}

// countItems returns the number of stored items of a project, without its events.
func countItems(t testing.TB, p *platformtest.Platform, project string) int {
	t.Helper()
	client := p.DynamoDB()
	items := 0
	for _, table := range []string{"local-ProjectsTable", "local-ContentsTable", "local-ConversationsTable"} {
		pages := dynamodb.NewQueryPaginator(client, &dynamodb.QueryInput{
			TableName: &table, KeyConditionExpression: aws.String("pk = :pk"), Select: types.SelectCount, ConsistentRead: aws.Bool(true),
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: "PROJECT#" + project}},
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			items += int(page.Count)
		}
	}
	return items
}

// TestCleanupSurvivesKill kills the platform after a project was deleted, three times. After each restart, the clean-up
// continues at its position in the stream, so that no items of the projects remain.
func TestCleanupSurvivesKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := platformtest.StartIn(t, dir)
	c := platformtest.NewClient(t, p.URL)
	c.SignUp("ada")
	var projects []string
	for i := range 3 {
		c.Login("ada").Want(t, http.StatusOK)
		project := c.NewProject(fmt.Sprint("Project ", i), nil)
		projects = append(projects, project)
		for batch := range 5 {
			var operations []platformtest.Object
			for file := range 20 {
				operations = append(operations, platformtest.Object{
					"op": "create", "path": fmt.Sprintf("/%d/%d.txt", batch, file), "content": strings.Repeat("x", file),
				})
			}
			body := platformtest.Object{"operations": operations}
			c.Do("POST", "/api/projects/"+project+"/files/batch", body.String()).Want(t, http.StatusOK)
		}
		c.Do("DELETE", "/api/projects/"+project, "").Want(t, http.StatusOK)
		p.Kill()
		p = platformtest.StartIn(t, dir)
		c = platformtest.NewClient(t, p.URL)
	}
	for _, project := range projects {
		platformtest.Eventually(t, "the clean-up after a kill", func() bool { return countItems(t, p, project) == 0 })
	}
}

// TestLargeFile saves and reads a file with 1 MiB of random bytes.
func TestLargeFile(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.URL)
	c.SignUp("ada")
	project := c.NewProject("Large", nil)
	randomBytes := make([]byte, 1<<20)
	for i := range randomBytes {
		randomBytes[i] = byte(rand.Uint32())
	}
	files := "/api/projects/" + project + "/files"
	content := base64.StdEncoding.EncodeToString(randomBytes)
	body := platformtest.Object{"path": "/random.bin", "content": content, "encoding": "base64"}
	c.Do("POST", files, body.String()).Want(t, http.StatusCreated)
	read := c.Do("GET", files+"?path=/random.bin", "").Want(t, http.StatusOK)
	if read["content"] != content || read["encoding"] != "base64" {
		t.Errorf("random.bin: got %d characters in %v, want the saved content in base64",
			len(fmt.Sprint(read["content"])), read["encoding"])
	}
	// A text that would be twice as large in JSON is returned in base64.
	quotes := strings.Repeat("\x01\"", 1<<18)
	c.Save(project, "/quotes.txt", quotes).Want(t, http.StatusCreated)
	read = c.Do("GET", files+"?path=/quotes.txt", "").Want(t, http.StatusOK)
	if read["encoding"] != "base64" || read["content"] != base64.StdEncoding.EncodeToString([]byte(quotes)) {
		t.Errorf("quotes.txt: got %d characters in %v, want the saved content in base64",
			len(fmt.Sprint(read["content"])), read["encoding"])
	}
	c.Save(project, "/too-large.txt", strings.Repeat("x", 1<<20+1)).WantError(t, http.StatusBadRequest, "VALIDATION_FAILED")
}

// TestConditionalWrites writes one file from many clients with the same If-Match. Exactly one write succeeds.
func TestConditionalWrites(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.URL)
	c.SignUp("ada")
	project := c.NewProject("Shared", nil)
	etag := c.Save(project, "/a.txt", "first").Header.Get("ETag")
	var wg sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for i := range 12 {
		wg.Go(func() {
			response := c.Save(project, "/a.txt", fmt.Sprint("writer ", i), "If-Match: "+etag)
			mu.Lock()
			defer mu.Unlock()
			statuses[response.Status]++
		})
	}
	wg.Wait()
	rejected := statuses[http.StatusPreconditionFailed] + statuses[http.StatusConflict]
	if statuses[http.StatusOK] != 1 || rejected != 11 {
		t.Errorf("got responses by status %v, want one 200 and 11 of 412 or 409", statuses)
	}
	if versions := c.Do("GET", "/api/projects/"+project+"/files/history?path=/a.txt", "").List(t, "versions"); column(versions, "current") != "true false" {
		t.Errorf("got versions %v, want the current one and a replaced one", versions)
	}
}
