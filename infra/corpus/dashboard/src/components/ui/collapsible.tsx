import * as C from "@radix-ui/react-collapsible";

export const Collapsible = C.Root;
export const CollapsibleTrigger = C.CollapsibleTrigger;
export const CollapsibleContent = C.CollapsibleContent;
