// Command deployer is the Lambda function that builds deployments. It receives messages from BuildsQueue. Every minute,
// a schedule makes it look for deployments that wait for too long.
package main

import "devplatform/shared/lambdafn"

func main() { lambdafn.Start(newHandler) }
