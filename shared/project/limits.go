package project

// MaxProjects is the maximum number of projects in a workspace.
const MaxProjects = 1000
