// Command deploy-check is the Lambda function that CodeDeploy invokes before a new version of a function gets traffic.
// It sends the new version one request, and reports whether the response is the expected one. If it is not, CodeDeploy
// ends the deployment, and the version gets no traffic. So a version that does not start, has invalid settings or lacks
// a permission is found before it serves users. A schedule can also invoke it every minute to probe the public URLs.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"devplatform/shared/awsclient"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/excerpt"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
)

func main() { lambdafn.Start(newHandler) }

// settings are the environment variables of the function.
type settings struct {
	AWS     config.AWS
	Metrics config.Metrics
	// Versions maps the logical IDs of the functions to the ARNs of their new versions. The ARN of a function that is not
	// deployed is empty.
	Versions map[string]string `env:"VERSIONS,required,notEmpty" envKeyValSeparator:"="`
	// SitesOrigin is the origin below which sites are published, "" if there is none.
	SitesOrigin string `env:"SITES_ORIGIN"`
}

const (
	// checksTimeout is the time for all checks. It leaves time for the report within the function's 120 s.
	checksTimeout = 100 * time.Second
	// parallelChecks is small, because a new account allows ten concurrent invocations.
	parallelChecks = 3
	// maxAttempts is the number of attempts of a call. It is large, so that throttling does not fail a deployment.
	maxAttempts = 8
	// maxLogged is the maximum number of bytes of an unexpected response that are logged.
	maxLogged = 500
)

// handler checks new versions, and probes public URLs.
type handler struct {
	settings     settings
	logger       *slog.Logger
	metrics      *metric.Metrics
	lambda       *lambda.Client
	codeDeploy   *codedeploy.Client
	publicClient *http.Client
}

// run is the type of the handler of the function.
type run = func(context.Context, event) (result, error)

// newHandler builds the function's handler. It does no I/O. It returns an error if a function has no check.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (run, error) {
	for name := range cfg.Versions {
		if _, ok := checks("")[name]; !ok {
			return nil, fmt.Errorf("VERSIONS: there is no check for %s", name)
		}
	}
	retryer := retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = maxAttempts })
	credentials, endpoint := awsclient.Credentials(cfg.AWS), awsclient.Endpoint("", cfg.AWS.Endpoint)
	h := &handler{
		settings: cfg, logger: logger, metrics: metric.New(logger, cfg.Metrics.Namespace, now),
		publicClient: newPublicClient(),
	}
	h.lambda = lambda.New(lambda.Options{
		Region: cfg.AWS.Region, Credentials: credentials, BaseEndpoint: endpoint, Retryer: retryer,
		HTTPClient: awsclient.SlowHTTP(),
	})
	h.codeDeploy = codedeploy.New(codedeploy.Options{
		Region: cfg.AWS.Region, Credentials: credentials, BaseEndpoint: endpoint, Retryer: retryer,
		HTTPClient: awsclient.HTTP(),
	})
	return h.run, nil
}

// event is the event of CodeDeploy or of the schedule. If it is empty, because an operator invokes the function, all
// functions are checked and nothing is reported.
type event struct {
	Probe *probeURLs `json:"probe"` // only in the event of the schedule

	DeploymentID string `json:"DeploymentId"`
	ExecutionID  string `json:"LifecycleEventHookExecutionId"`
}

// result is the result of the checks.
type result struct {
	Status   types.LifecycleEventStatus `json:"status"`
	Failures map[string]string          `json:"failures,omitempty"` // the reasons, by logical ID
}

// run checks the new version of the function that is deployed, and reports the result to CodeDeploy. If the report
// fails, it returns an error, and Lambda invokes the function again. For an event of the schedule, it probes the URLs.
func (h *handler) run(ctx context.Context, e event) (result, error) {
	if e.Probe != nil {
		h.probe(ctx, *e.Probe)
		return result{}, nil
	}
	r := h.checkAll(ctx, h.functionsToCheck(ctx, e.DeploymentID))
	if e.DeploymentID == "" {
		return r, nil
	}
	_, err := h.codeDeploy.PutLifecycleEventHookExecutionStatus(ctx, &codedeploy.PutLifecycleEventHookExecutionStatusInput{
		DeploymentId: &e.DeploymentID, LifecycleEventHookExecutionId: &e.ExecutionID, Status: r.Status,
	})
	if err != nil {
		return r, fmt.Errorf("reporting the result of deployment %s: %w", e.DeploymentID, err)
	}
	return r, nil
}

// functionsToCheck returns the logical ID of the function that a deployment deploys. The name of its deployment group
// is STACK-FUNCTIONDeploymentGroup-SUFFIX. If CodeDeploy does not return a known name, for example because
// CloudFormation shortened it, or if deploymentID is "", it returns all functions.
func (h *handler) functionsToCheck(ctx context.Context, deploymentID string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(h.settings.Versions)) {
		if h.settings.Versions[name] != "" {
			all = append(all, name)
		}
	}
	if deploymentID == "" {
		return all
	}
	out, err := h.codeDeploy.GetDeployment(ctx, &codedeploy.GetDeploymentInput{DeploymentId: &deploymentID})
	if err == nil && out.DeploymentInfo != nil {
		group := aws.ToString(out.DeploymentInfo.DeploymentGroupName)
		for _, name := range all {
			if strings.Contains(group, "-"+name+"DeploymentGroup-") {
				return []string{name}
			}
		}
		err = fmt.Errorf("the deployment group %q belongs to no function", group)
	}
	h.logger.WarnContext(ctx, "all functions are checked", "deployment", deploymentID, "cause", fmt.Sprint(err))
	return all
}

// checkAll checks the new versions of functions.
func (h *handler) checkAll(ctx context.Context, names []string) result {
	ctx, cancel := context.WithTimeout(ctx, checksTimeout)
	defer cancel()
	all := checks(h.settings.SitesOrigin)
	errs := lambdafn.Parallel(len(names), parallelChecks, func(i int) error {
		return h.runCheck(ctx, h.settings.Versions[names[i]], all[names[i]])
	})
	r := result{Status: types.LifecycleEventStatusSucceeded, Failures: map[string]string{}}
	for i, err := range errs {
		if err != nil {
			r.Status, r.Failures[names[i]] = types.LifecycleEventStatusFailed, err.Error()
			h.logger.ErrorContext(ctx, "check failed", "function", names[i], "cause", err.Error())
			continue
		}
		h.logger.InfoContext(ctx, "check succeeded", "function", names[i])
	}
	return r
}

// runCheck sends the request of a check to a version, and checks the response.
func (h *handler) runCheck(ctx context.Context, version string, c check) error {
	out, err := h.lambda.Invoke(ctx, &lambda.InvokeInput{FunctionName: &version, Payload: []byte(c.payload)})
	if err != nil {
		return fmt.Errorf("invoking %s: %w", version, err)
	}
	response := string(out.Payload)
	if out.FunctionError != nil {
		return errors.New("the function failed: " + excerpt.Start(response, maxLogged))
	}
	for _, want := range c.want {
		if !strings.Contains(response, want) {
			return fmt.Errorf("the response does not contain %s: %s", want, excerpt.Start(response, maxLogged))
		}
	}
	return nil
}
