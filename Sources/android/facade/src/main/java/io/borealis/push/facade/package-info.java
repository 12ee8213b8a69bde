/** What the packages in the shape of JPush's and Getui's libraries share. Not for apps. */
package io.borealis.push.facade;
