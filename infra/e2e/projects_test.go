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

// column answers one field of every object.
func column(objects []map[string]any, field string) string {
	var values []string
	for _, o := range objects {
		values = append(values, fmt.Sprint(o[field]))
	}
	return strings.Join(values, " ")
}

// TestProjects is the story of a project over both protocols, as its owner, a colleague and a stranger see it.
func TestProjects(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	for name, base := range map[string]string{"plain": p.URL, "secure": p.HTTPS} {
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
				t.Errorf("files: %v", files)
			}
			read := ada.Do("GET", at+"/files?path=/src/app.tsx", "")
			if fields := read.Want(t, http.StatusOK); fields["content"] != "three" || read.Header.Get("ETag") != saved.Header.Get("ETag") || read.Header.Get("ETag") == "" {
				t.Errorf("read: %s, ETag %q", read.Body, read.Header.Get("ETag"))
			}
			ada.Save(project, "/src/app.tsx", "four", `If-Match: "stale"`).WantError(t, http.StatusPreconditionFailed, "PRECONDITION_FAILED")
			ada.Save(project, "/src", "a folder").WantError(t, http.StatusConflict, "CONFLICT")
			ada.Do("POST", at+"/files/batch", `{"operations":[{"op":"rename","path":"/src/app.tsx","to":"/src/App.tsx"},{"op":"delete","path":"/nothing"}]}`).
				WantError(t, http.StatusNotFound, "FILE_NOT_FOUND")
			ada.Do("POST", at+"/files/batch", `{"operations":[{"op":"rename","path":"/src/app.tsx","to":"/src/App.tsx"}]}`).Want(t, http.StatusOK)
			if versions := ada.Do("GET", at+"/files/history?path=/src/app.tsx", "").List(t, "versions"); column(versions, "current") != "false false" {
				t.Errorf("history: %v", versions)
			}

			grace.Do("GET", at, "").WantError(t, http.StatusNotFound, "PROJECT_NOT_FOUND")
			ada.Do("POST", "/api/workspaces/"+workspace+"/members", platformtest.Object{"username": "grace" + name, "role": "viewer"}.String()).Want(t, http.StatusCreated)
			if seen := grace.Do("GET", "/api/projects", "").List(t, "projects"); column(seen, "slug") != "cafe-deja" {
				t.Errorf("grace sees %v", seen)
			}
			grace.Save(project, "/x", "x").WantError(t, http.StatusForbidden, "ACCESS_DENIED")
			ada.Do("DELETE", "/api/workspaces/"+workspace+"/members/"+graceID, "").Want(t, http.StatusOK)
			grace.Do("GET", at, "").WantError(t, http.StatusNotFound, "PROJECT_NOT_FOUND")

			ada.Do("POST", at+"/comments", `{"body":"Nice.","path":"/src/App.tsx","line":1}`).Want(t, http.StatusCreated)
			feed := ada.Do("GET", at+"/events", "").List(t, "events")
			if got, want := column(feed, "type"), "comment.created file.created file.deleted file.updated file.created file.created file.created project.created"; got != want {
				t.Errorf("feed: %s, want %s", got, want)
			}

			ada.Do("DELETE", at, "").Want(t, http.StatusOK)
			for _, path := range []string{at, at + "/files", at + "/files?path=/README.md", at + "/events", at + "/comments", at + "/files/history?path=/README.md"} {
				ada.Do("GET", path, "").WantError(t, http.StatusNotFound, "PROJECT_NOT_FOUND")
			}
			ada.Save(project, "/late", "late").WantError(t, http.StatusNotFound, "PROJECT_NOT_FOUND")
			platformtest.Eventually(t, "the clean-up of the deleted project", func() bool { return held(t, p, project) == 0 })
		})
	}
}

// held counts what the tables still hold of a project, its feed apart.
func held(t testing.TB, p *platformtest.Platform, project string) int {
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

// TestCleanupSurvivesKill kills the whole platform with a project just deleted, again and again: whoever reads the stream goes on
// where they were, and the project is gone in the end.
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
				operations = append(operations, platformtest.Object{"op": "create", "path": fmt.Sprintf("/%d/%d.txt", batch, file), "content": strings.Repeat("x", file)})
			}
			c.Do("POST", "/api/projects/"+project+"/files/batch", platformtest.Object{"operations": operations}.String()).Want(t, http.StatusOK)
		}
		c.Do("DELETE", "/api/projects/"+project, "").Want(t, http.StatusOK)
		p.Kill()
		p = platformtest.StartIn(t, dir)
		c = platformtest.NewClient(t, p.URL)
	}
	for _, project := range projects {
		platformtest.Eventually(t, "the clean-up after a kill", func() bool { return held(t, p, project) == 0 })
	}
}

// TestLargeFile sends 1 MiB that nothing compresses through the whole platform and back.
func TestLargeFile(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.URL)
	c.SignUp("ada")
	project := c.NewProject("Large", nil)
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	content := base64.StdEncoding.EncodeToString(noise)
	c.Do("POST", "/api/projects/"+project+"/files", platformtest.Object{"path": "/noise.bin", "content": content, "encoding": "base64"}.String()).Want(t, http.StatusCreated)
	if read := c.Do("GET", "/api/projects/"+project+"/files?path=/noise.bin", "").Want(t, http.StatusOK); read["content"] != content || read["encoding"] != "base64" {
		t.Errorf("came back as %v of %d bytes", read["encoding"], len(fmt.Sprint(read["content"])))
	}
	// What would be twice as large as JSON comes as base64.
	quotes := strings.Repeat("\x01\"", 1<<18)
	c.Save(project, "/quotes.txt", quotes).Want(t, http.StatusCreated)
	read := c.Do("GET", "/api/projects/"+project+"/files?path=/quotes.txt", "").Want(t, http.StatusOK)
	if read["encoding"] != "base64" || read["content"] != base64.StdEncoding.EncodeToString([]byte(quotes)) {
		t.Errorf("quotes came back as %v of %d bytes", read["encoding"], len(fmt.Sprint(read["content"])))
	}
	c.Save(project, "/too-large.txt", strings.Repeat("x", 1<<20+1)).WantError(t, http.StatusBadRequest, "VALIDATION_FAILED")
}

// TestWritersMeet lets many clients write one file on a condition: each version is replaced by exactly one of them.
func TestWritersMeet(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.URL)
	c.SignUp("ada")
	project := c.NewProject("Crowded", nil)
	etag := c.Save(project, "/a.txt", "first").Header.Get("ETag")
	var wg sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for i := range 12 {
		wg.Go(func() {
			a := c.Save(project, "/a.txt", fmt.Sprint("writer ", i), "If-Match: "+etag)
			mu.Lock()
			defer mu.Unlock()
			statuses[a.Status]++
		})
	}
	wg.Wait()
	if statuses[http.StatusOK] != 1 || statuses[http.StatusOK]+statuses[http.StatusPreconditionFailed]+statuses[http.StatusConflict] != 12 {
		t.Errorf("answers by status: %v", statuses)
	}
	if versions := c.Do("GET", "/api/projects/"+project+"/files/history?path=/a.txt", "").List(t, "versions"); column(versions, "current") != "true false" {
		t.Errorf("history: %v", versions)
	}
}
