/* Built from frontend/ by `make bundles`: change the sources, not this. */
var t=".st-key-page-link a",n="";function a({data:e}){n!==e&&(n=e,document.querySelector(t)?.click())}export{a as default};
