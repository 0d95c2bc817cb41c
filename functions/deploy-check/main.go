// Command deploy-check is the Lambda function that CodeDeploy invokes before a new version of a function gets traffic.
// It sends the new version one request, and reports whether the response is the expected one. If it is not, CodeDeploy
// ends the deployment, and the version gets no traffic. So a version that does not start, has invalid settings or lacks
// a permission is found before it serves users. A schedule can also invoke it every minute to probe the public URLs.
package main

import "devplatform/shared/lambdafn"

func main() { lambdafn.Start(newHandler) }
