package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"devplatform/infra/local/runtime"
)

// deploymentGroups is the name that templatetest uses for the deployment groups of the stack.
const deploymentGroups = "arn:AWS::Partition:codedeploy:AWS::Region:AWS::AccountId:deploymentgroup:" +
	"AWS::StackName-ServerlessDeploymentApplication-*/*"

const functionsPath = "/2015-03-31/functions/"

// deployCheck checks the new versions of all functions, as at a deployment.
func (w *watched) deployCheck() {
	w.t.Helper()
	w.run("DeployCheckFunction", `{"DeploymentId":"d-1","LifecycleEventHookExecutionId":"e-1"}`)
}

// versionOf returns the function that a request to Lambda invokes, "" for a request to another service.
func versionOf(r *http.Request) (function string) {
	segment, ok := strings.CutPrefix(r.URL.Path, functionsPath)
	if !ok {
		return ""
	}
	arn, err := url.PathUnescape(strings.TrimSuffix(segment, "/invocations"))
	if parts := strings.Split(arn, ":"); err == nil && len(parts) == 8 { // arn:aws:lambda:REGION:ACCOUNT:function:NAME:VERSION
		return parts[6]
	}
	return ""
}

// invokeVersion is Lambda: it invokes a function.
func (w *watched) invokeVersion(rw http.ResponseWriter, r *http.Request) {
	payload, err := io.ReadAll(r.Body)
	if err != nil {
		w.t.Error(err)
	}
	response, err := w.invoke(r.Context(), runtime.Invocation{Function: versionOf(r), Payload: payload})
	if err != nil {
		w.t.Errorf("invoking %s: %v", versionOf(r), err)
		rw.WriteHeader(http.StatusInternalServerError)
		return
	}
	_ = response.Body.Close()
	_, _ = rw.Write(response.Payload)
}

// codeDeploy is CodeDeploy. The deployment belongs to no known group, so that all functions are checked.
func (w *watched) codeDeploy(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.t.Error(err)
	}
	isReport := strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".PutLifecycleEventHookExecutionStatus")
	if isReport && !strings.Contains(string(body), `"status":"Succeeded"`) {
		w.t.Errorf("deploy-check reported %s, want the status Succeeded", body)
	}
	_, _ = fmt.Fprint(rw, "{}")
}
