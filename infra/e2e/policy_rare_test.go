package e2e

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"devplatform/infra/hooktest"
	"devplatform/infra/local/codehost"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/gateway"
	"devplatform/infra/local/runtime"
	"devplatform/infra/platformtest"
)

// callRareOperations makes the functions execute the operations that they seldom execute.
func (w *watched) callRareOperations(ada *platformtest.Client, workspace, project string) {
	w.t.Helper()
	w.signIns()
	// Each function renews a session that was last used two days ago.
	for _, request := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/api/projects/" + project, http.StatusOK},
		{"GET", "/api/webhooks", http.StatusOK},
		{"POST", "/api/webhooks/wh_01K9ZQ3V7M8T5XW2ABCDEFGHJK/test", http.StatusNotFound},
		{"GET", "/api/ai/usage", http.StatusOK},
	} {
		w.change("AccountsTable", "SESSION#", "lastSeenAt", time.Now().Add(-48*time.Hour).UTC().Format("2006-01-02T15:04:05.000Z"))
		if response := ada.Do(request.method, request.path, ""); response.Status != request.status {
			w.t.Errorf("%s %s: got %d %s, want %d", request.method, request.path, response.Status, response.Body, request.status)
		}
	}
	w.redeliveredMeanwhile(ada, workspace, project)
	w.disableWebhook(ada, workspace, project)
	w.openAI()
}

const codehostSecret = "the code host's secret"

// openCodehost starts a code host behind the address of the services, and returns the functions' variables for it.
func (w *watched) openCodehost() map[string]string {
	w.t.Helper()
	w.codehost = codehost.New(codehost.Options{
		Now: time.Now, ClientID: "id", ClientSecret: codehostSecret, RedirectPrefixes: []string{"http://127.0.0.1:"},
		Logger: slog.New(slog.DiscardHandler),
	})
	base := w.services + codehost.Path
	return map[string]string{
		"COOKIE_PLAIN_HTTP": "true", "WEBHOOK_ALLOW_PRIVATE": "true",
		"OAUTH_PROVIDER": "custom", "OAUTH_CLIENT_ID": "id", "OAUTH_SCOPES": "read:user",
		"OAUTH_AUTHORIZE_URL": base + "/login/oauth/authorize", "OAUTH_TOKEN_URL": base + "/login/oauth/access_token",
		"OAUTH_USER_URL": base + "/api/v1/user", "OAUTH_EMAILS_URL": base + "/api/v1/user/emails",
	}
}

// giveSecret sets the value of a secret.
func (w *watched) giveSecret(logicalID, text string) {
	w.t.Helper()
	for _, s := range w.stack.Secrets {
		if s.LogicalID == logicalID {
			_, err := w.secretsManager().PutSecretValue(w.t.Context(), &secretsmanager.PutSecretValueInput{SecretId: aws.String(s.Name), SecretString: &text})
			must(w.t, err)
			return
		}
	}
	w.t.Fatalf("the template has no secret %s", logicalID)
}

// secretsManager returns a client with the credentials of an operator.
func (w *watched) secretsManager() *secretsmanager.Client {
	return secretsmanager.New(secretsmanager.Options{
		Region: "us-east-1", BaseEndpoint: &w.services, Credentials: credentials.NewStaticCredentialsProvider("operator", "secret", ""),
	})
}

// signIns signs in with the code host three times: as a new user, as a user with an identity, and as a user who has
// only the same e-mail address. The last one also links an identity and removes it.
func (w *watched) signIns() {
	w.t.Helper()
	for _, known := range []string{"", "identity", "email"} {
		if known == "email" {
			w.deleteItems("AccountsTable", "IDENTITY#")
		}
		c := platformtest.NewClient(w.t, w.url)
		begin := c.Do("GET", "/api/auth/codehost?redirect=/api/auth/me", "")
		begin.Want(w.t, http.StatusFound)
		c.Do("GET", consent(w.t, c, begin.Header.Get("Location"), "octo"), "").Want(w.t, http.StatusFound)
		c.Do("GET", "/api/auth/me", "").Want(w.t, http.StatusOK)
		if known != "email" {
			continue
		}
		page, _ := c.Do("POST", "/api/auth/codehost/link", "").Want(w.t, http.StatusOK)["url"].(string)
		c.Do("GET", consent(w.t, c, page, "other-octo"), "").Want(w.t, http.StatusFound)
		identities := c.Do("GET", "/api/auth/identities", "").List(w.t, "identities")
		c.Do("DELETE", "/api/auth/identities/"+identities[0]["id"].(string), "").Want(w.t, http.StatusOK)
	}
}

// redeliveredMeanwhile uses one endpoint for each lane. The endpoint redelivers a delivery before it responds. So the
// delivery has changed when the function stores the attempt. The slow lane then sends a message to the fast lane.
func (w *watched) redeliveredMeanwhile(ada *platformtest.Client, workspace, project string) {
	w.t.Helper()
	for function, permission := range map[string]permission{
		"WebhookDeliveryFunction":     "dynamodb:GetItem WebhooksTable",
		"WebhookSlowDeliveryFunction": "sqs:SendMessage DeliveriesQueue",
	} {
		var hook string
		var once sync.Once
		redelivered := make(chan struct{})
		endpoint := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			once.Do(func() {
				defer close(redelivered)
				path := "/api/webhooks/" + hook + "/deliveries/" + r.Header.Get("X-Service-Delivery") + "/redeliver"
				if response := ada.Do("POST", path, ""); response.Status != http.StatusAccepted {
					w.t.Errorf("redeliver: got status %d with body %s, want 202", response.Status, response.Body)
				}
			})
			rw.WriteHeader(http.StatusNoContent)
		}))
		w.t.Cleanup(endpoint.Close)
		hook = ada.Subscribe(endpoint.URL, platformtest.Object{"workspaceId": workspace, "projectId": project})
		if function == "WebhookDeliveryFunction" {
			w.makePrompt(hook)
		}
		ada.Save(project, "/again "+function+".txt", "x").Want(w.t, http.StatusCreated)
		<-redelivered
		platformtest.Eventually(w.t, "the function uses "+string(permission), func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.used[function][permission]
		})
	}
}

// disableWebhook uses an endpoint of the fast lane that responds with 410. So the function disables the webhook, and stores a
// mail.
func (w *watched) disableWebhook(ada *platformtest.Client, workspace, project string) {
	w.t.Helper()
	fields := platformtest.Object{"workspaceId": workspace, "projectId": project}
	w.makePrompt(ada.Subscribe(hooktest.New(w.t).URL("/gone"), fields))
	ada.Save(project, "/gone.txt", "x").Want(w.t, http.StatusCreated)
	w.waitFor(map[string][]permission{"WebhookDeliveryFunction": {"dynamodb:PutItem MailTable"}})
}

// makePrompt moves the endpoint of a webhook to the fast lane.
func (w *watched) makePrompt(hook string) {
	w.t.Helper()
	w.each("WebhooksTable", "WEBHOOK#"+hook, func(
		client *dynamodb.Client, table *string, key map[string]types.AttributeValue,
	) {
		_, err := client.UpdateItem(w.t.Context(), &dynamodb.UpdateItemInput{
			TableName: table, Key: key, UpdateExpression: aws.String("SET prompt = :v"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":v": &types.AttributeValueMemberBOOL{Value: true}},
		})
		must(w.t, err)
	})
}

// openAI calls an assistant that uses the OpenAI-compatible provider. The provider does not exist, but the function
// fetches its key.
func (w *watched) openAI() {
	w.t.Helper()
	for _, f := range w.stack.Functions {
		if f.LogicalID != "AiFunction" {
			continue
		}
		other := w.start(f, map[string]string{"AI_PROVIDER": "openai", "OPENAI_BASE_URL": w.services + "/missing"})
		defer other.Close(w.t.Context())
		front := gateway.New(gateway.Options{
			API: w.api("Api"), Now: time.Now, Logger: slog.New(slog.DiscardHandler),
			Invoke: func(ctx context.Context, in runtime.Invocation) (*runtime.Response, error) {
				if in.Function == f.Name {
					return other.Invoke(ctx, in)
				}
				return w.invoke(ctx, in)
			},
		})
		server := httptest.NewServer(front)
		defer server.Close()
		c := platformtest.NewClient(w.t, server.URL)
		c.SignUp("openai")
		if response := c.Do("POST", "/api/ai/generate", `{"prompt":"A button."}`); response.Status < 500 {
			w.t.Errorf("generate: got status %d with body %s, want an error of the server", response.Status, response.Body)
		}
	}
}

// each calls do for each item of a table whose partition key or sort key begins with prefix. There must be one.
func (w *watched) each(table, prefix string, do func(client *dynamodb.Client, table *string, key map[string]types.AttributeValue)) {
	w.t.Helper()
	if w.find(table, prefix, do) == 0 {
		w.t.Errorf("the table %s has no item whose key begins with %s", table, prefix)
	}
}

// find is like each, and returns the number of items.
func (w *watched) find(table, prefix string, do func(client *dynamodb.Client, table *string, key map[string]types.AttributeValue)) (found int) {
	w.t.Helper()
	client := dynamotest.Client(w.services)
	for _, t := range w.stack.Tables {
		if t.LogicalID != table {
			continue
		}
		page, err := client.Scan(w.t.Context(), &dynamodb.ScanInput{TableName: &t.Name})
		must(w.t, err)
		for _, item := range page.Items {
			if strings.HasPrefix(text(item["pk"]), prefix) || strings.HasPrefix(text(item["sk"]), prefix) {
				do(client, &t.Name, map[string]types.AttributeValue{"pk": item["pk"], "sk": item["sk"]})
				found++
			}
		}
	}
	return found
}

// text returns the value of a string attribute.
func text(value types.AttributeValue) string {
	s, _ := value.(*types.AttributeValueMemberS)
	return s.Value
}

// change sets an attribute of the items that each selects, except of items that a function deletes at the same time.
func (w *watched) change(table, prefix, attribute, text string) {
	w.t.Helper()
	w.each(table, prefix, func(client *dynamodb.Client, table *string, key map[string]types.AttributeValue) {
		_, err := client.UpdateItem(w.t.Context(), &dynamodb.UpdateItemInput{
			TableName: table, Key: key, UpdateExpression: aws.String("SET #a = :v"), ExpressionAttributeNames: map[string]string{"#a": attribute},
			ExpressionAttributeValues: map[string]types.AttributeValue{":v": &types.AttributeValueMemberS{Value: text}},
			ConditionExpression:       aws.String("attribute_exists(pk)"),
		})
		var isDeleted *types.ConditionalCheckFailedException
		if !errors.As(err, &isDeleted) {
			must(w.t, err)
		}
	})
}

// deleteItems deletes the items that each selects.
func (w *watched) deleteItems(table, prefix string) {
	w.t.Helper()
	w.each(table, prefix, func(client *dynamodb.Client, table *string, key map[string]types.AttributeValue) {
		_, err := client.DeleteItem(w.t.Context(), &dynamodb.DeleteItemInput{TableName: table, Key: key})
		must(w.t, err)
	})
}
