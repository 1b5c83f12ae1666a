/* What the admin's theme does inline, done in ways that the content policy allows. */
"use strict";

// htmx would write its indicator's style into the page.
htmx.config.includeIndicatorStyles = false;

// Alpine sets computed styles as attributes; through the object model they are no inline style.
{
  const setAttribute = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function (name, value) {
    if (name === "style" && this.style) this.style.cssText = value;
    else setAttribute.call(this, name, value);
  };
}
